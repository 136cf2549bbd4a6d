"""transformers loads models from the local Hub, unmodified."""

import os
from pathlib import Path

import pytest
from huggingface_hub import HfApi
from localhub_fixtures import HubServer
from waiting import last_json

SCRIPT = """
import json, sys
import torch
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel, BertTokenizer

torch.manual_seed(0)
config = BertConfig(
    vocab_size=8, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8,
    max_position_embeddings=16,
)
made = BertModel(config).eval()
made.push_to_hub("transformers-ana/tiny", private=True)
with open("vocab.txt", "w") as handle:
    handle.write("\\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "no", "effusion", "."]))
BertTokenizer("vocab.txt").push_to_hub("transformers-ana/tiny")
loaded = AutoModel.from_pretrained("transformers-ana/tiny").eval()
tokenizer = AutoTokenizer.from_pretrained("transformers-ana/tiny")
ids = tokenizer("no effusion.", return_tensors="pt")
with torch.no_grad():
    same = torch.equal(made(**ids).last_hidden_state, loaded(**ids).last_hidden_state)
print(json.dumps([same, ids["input_ids"].tolist()]))
"""


@pytest.mark.slow
def test_a_model_goes_up_and_comes_back(hub_server: HubServer, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    token = hub_server.user("transformers-ana")
    settings = {"HF_ENDPOINT": hub_server.url, "HF_TOKEN": token, "HF_HOME": str(tmp_path / "home")}
    found = last_json(SCRIPT, [], tmp_path, {**os.environ, **settings}, timeout=240)
    assert found == [True, [[2, 5, 6, 7, 3]]]
    assert HfApi(hub_server.url, token=token).file_exists("transformers-ana/tiny", "model.safetensors")
