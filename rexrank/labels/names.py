"""The fourteen classes of CheXpert and the codes of a label, as facts that need no numpy."""

NAMES = (
    "Enlarged Cardiomediastinum",
    "Cardiomegaly",
    "Lung Opacity",
    "Lung Lesion",
    "Edema",
    "Consolidation",
    "Pneumonia",
    "Atelectasis",
    "Pneumothorax",
    "Pleural Effusion",
    "Pleural Other",
    "Fracture",
    "Support Devices",
    "No Finding",
)
BLANK, POSITIVE, NEGATIVE, UNCERTAIN = 0, 1, 2, 3
# Raised whenever the labels of any text can change; it stands in the signature of every score from these labels.
RULE_VERSION = "1"
