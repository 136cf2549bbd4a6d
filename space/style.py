"""Looks of the board: one theme with bundled fonts and one style sheet; nothing is fetched from elsewhere."""

from pathlib import Path

from gradio.themes import Default
from gradio.themes.utils import colors, sizes
from gradio.themes.utils.fonts import LocalFont

THEME = Default(
    primary_hue=colors.teal,
    secondary_hue=colors.teal,
    neutral_hue=colors.slate,
    radius_size=sizes.radius_md,
    # Of the weights that Gradio brings along, these two have all letters; its semi-bold is a fragment.
    font=[LocalFont("Source Sans Pro", weights=(400, 700)), "ui-sans-serif", "system-ui", "sans-serif"],
    font_mono=[LocalFont("IBM Plex Mono", weights=(400, 700)), "ui-monospace", "monospace"],
).set(
    body_background_fill="#f8fafb",
    body_background_fill_dark="#0e1518",
    block_background_fill="#ffffff",
    block_background_fill_dark="#151f23",
    button_primary_background_fill="#0f766e",
    button_primary_background_fill_hover="#115e59",
    button_primary_background_fill_dark="#0f766e",
    button_primary_background_fill_hover_dark="#0d9488",
    button_primary_text_color="#ffffff",
    block_shadow="none",
    block_label_text_weight="600",
    block_title_text_weight="600",
)

CSS = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
