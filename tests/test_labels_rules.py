"""What the labeller reads from sentences, rule by rule; all of them are invented."""

import pytest

from rexrank.labels import NAMES, NEGATIVE, POSITIVE, UNCERTAIN, label, mentions

_SIGNS = {POSITIVE: "+", NEGATIVE: "-", UNCERTAIN: "?"}

SENTENCES = [
    # specification
    ("Heart size lies at the upper normal limit.", "Cardiomegaly -, No Finding +"),
    ("Mildly enlarged cardiac silhouette without overt edema.", "Cardiomegaly +, Edema -"),
    ("Right basal opacity, pneumonia cannot be excluded.", "Lung Opacity +, Pneumonia ?"),
    ("Massive hiatal hernia.", ""),
    (
        "No edema, effusion or rib fracture; port catheter in place.",
        "Edema -, Pleural Effusion -, Fracture -, Support Devices +, No Finding +",
    ),
    # the finding stands alone
    ("Small bilateral pleural effusions.", "Pleural Effusion +"),
    ("Tiny left apical PTX.", "Pneumothorax +"),
    ("Acute on chronic CHF.", "Edema +"),
    ("Pulmonary oedema.", "Edema +"),
    ("Hydropneumothorax on the left.", "Pneumothorax +, Pleural Effusion +"),
    ("Right lower lobe collapse.", "Atelectasis +"),
    ("Left lower lobe is collapsed.", "Atelectasis +"),
    ("White-out of the right hemithorax.", "Lung Opacity +"),
    ("Healed left rib fractures.", "Fracture +"),
    ("Biapical pleural thickening.", "Pleural Other +"),
    ("Right hilar mass.", "Lung Lesion +"),
    ("Scarring at the left base.", "Lung Opacity +"),
    ("XXXX bilateral ___ pleural effusions.", "Pleural Effusion +"),
    ("Right-sided port-a-cath and pacemaker leads.", "Support Devices +, No Finding +"),
    ("Cervical fusion plate.", "Support Devices +, No Finding +"),
    ("Sternotomy wires are intact.", "Support Devices +, No Finding +"),
    # a list of absent things
    ("No oedema, effusions or pneumothoraces.", "Edema -, Pneumothorax -, Pleural Effusion -, No Finding +"),
    ("No XXXX effusion.", "Pleural Effusion -, No Finding +"),
    ("Nil effusion.", "Pleural Effusion -, No Finding +"),
    ("Lungs clear w/o effusion.", "Pleural Effusion -, No Finding +"),
    ("There isn't any pneumothorax.", "Pneumothorax -, No Finding +"),
    ("Effusion isn\u2019t seen.", "Pleural Effusion -, No Finding +"),
    ("No evidence of pneumonia.", "Pneumonia -, No Finding +"),
    ("Without focal consolidation or effusion.", "Consolidation -, Pleural Effusion -, No Finding +"),
    ("Lungs are free of consolidation.", "Consolidation -, No Finding +"),
    ("Lungs are clear of infiltrate or edema.", "Lung Opacity -, Edema -, No Finding +"),
    (
        "Negative for pneumothorax, pleural effusion, or focal airspace consolidation.",
        "Consolidation -, Pneumothorax -, Pleural Effusion -, No Finding +",
    ),
    ("Neither effusion nor pneumothorax is present.", "Pneumothorax -, Pleural Effusion -, No Finding +"),
    ("There is no longer a pneumothorax.", "Pneumothorax -, No Finding +"),
    ("No new pneumothorax.", "Pneumothorax -, No Finding +"),
    ("Absence of pleural effusion.", "Pleural Effusion -, No Finding +"),
    ("There has been complete resolution of the right pneumothorax.", "Pneumothorax -, No Finding +"),
    ("No focal opacity to suggest pneumonia.", "Lung Opacity -, Pneumonia -, No Finding +"),
    ("No findings suspicious for pneumonia.", "Pneumonia -, No Finding +"),
    ("No lines or tubes.", "Support Devices -, No Finding +"),
    ("No effusion vs. pleural thickening.", "Pleural Effusion -, Pleural Other -, No Finding +"),
    # absence said afterwards
    ("Pleural effusion is not seen.", "Pleural Effusion -, No Finding +"),
    ("Pleural effusion and pneumothorax are not seen.", "Pneumothorax -, Pleural Effusion -, No Finding +"),
    ("The pneumothorax is no longer seen.", "Pneumothorax -, No Finding +"),
    ("No longer seen is the left pneumothorax.", "Pneumothorax -, No Finding +"),
    ("Effusions have resolved.", "Pleural Effusion -, No Finding +"),
    ("Resolved left effusion.", "Pleural Effusion -, No Finding +"),
    ("Essentially resolved bibasilar consolidation.", "Consolidation -, No Finding +"),
    ("Pneumonia was ruled out.", "Pneumonia -, No Finding +"),
    ("Pneumothorax: none.", "Pneumothorax -, No Finding +"),
    ("Pneumothorax: no.", "Pneumothorax -, No Finding +"),
    ("PICC line has been removed.", "Support Devices -, No Finding +"),
    ("Interval removal of the chest tube.", "Support Devices -, No Finding +"),
    ("Pneumothorax after chest tube removal.", "Pneumothorax +"),
    # where absence ends
    ("No pneumothorax with small left effusion.", "Pneumothorax -, Pleural Effusion +"),
    ("No pneumothorax, small left effusion.", "Pneumothorax -, Pleural Effusion +"),
    ("No pneumothorax, bilateral effusions.", "Pneumothorax -, Pleural Effusion +"),
    ("No effusion, subsegmental atelectasis.", "Atelectasis +, Pleural Effusion -"),
    ("No effusion, patchy density in the lingula.", "Lung Opacity +, Pleural Effusion -"),
    ("No masses, linear opacities, or effusions.", "Lung Opacity -, Lung Lesion -, Pleural Effusion -, No Finding +"),
    ("No pneumothorax but there is a small effusion.", "Pneumothorax -, Pleural Effusion +"),
    ("No effusion; however, mild atelectasis persists.", "Atelectasis +, Pleural Effusion -"),
    ("No acute disease, stable cardiomegaly.", "Cardiomegaly +"),
    ("No pneumothorax is seen, the heart is enlarged.", "Cardiomegaly +, Pneumothorax -"),
    ("There is no effusion, and the cardiac silhouette is enlarged.", "Cardiomegaly +, Pleural Effusion -"),
    ("Lungs are clear without effusion and the heart is enlarged.", "Cardiomegaly +, Pleural Effusion -"),
    ("No consolidation except for linear atelectasis at the left base.", "Consolidation -, Atelectasis +"),
    ("The nodule is unchanged and there is no pneumothorax.", "Lung Lesion +, Pneumothorax -"),
    ("Small effusion, pneumothorax is not seen.", "Pneumothorax -, Pleural Effusion +"),
    ("There is no right but a small left effusion.", "Pleural Effusion +"),
    ("No pneumothorax.Heart is enlarged.", "Cardiomegaly +, Pneumothorax -"),
    ("No effusion the heart is enlarged", "Cardiomegaly +, Pleural Effusion -"),
    ("No effusion\nCardiomegaly\nNo edema", "Cardiomegaly +, Edema -, Pleural Effusion -"),
    ("No pleural\neffusion. No\nedema.", "Edema -, Pleural Effusion -, No Finding +"),
    ("No effusion, degenerative changes of the spine.", "Pleural Effusion -"),
    # change is not absence
    ("No change in the effusion.", "Pleural Effusion +"),
    ("Right effusion without significant change.", "Pleural Effusion +"),
    ("No significant interval change in the moderate right pneumothorax.", "Pneumothorax +"),
    ("The left effusion is not significantly changed.", "Pleural Effusion +"),
    ("The left effusion has not resolved.", "Pleural Effusion +"),
    ("Near complete resolution of the left effusion.", "Pleural Effusion +"),
    ("Partially resolved right pneumothorax.", "Pneumothorax +"),
    ("Pulmonary edema has improved.", "Edema +"),
    ("Interval worsening of pulmonary edema.", "Edema +"),
    ("Lung nodules seen on CT are not well visualized.", "Lung Lesion +"),
    ("No evidence of interval change in the nodules.", "Lung Lesion +"),
    ("The nodule was not seen on the prior study.", "Lung Lesion +"),
    ("A left effusion which was not present previously.", "Pleural Effusion +"),
    ("The pneumothorax was not previously seen.", "Pneumothorax +"),
    ("The nodule is not seen on the current study.", "Lung Lesion -, No Finding +"),
    # doubt
    ("Possible small effusion.", "Pleural Effusion ?"),
    ("Effusion is possible.", "Pleural Effusion ?"),
    ("There is possible left effusion.", "Pleural Effusion ?"),
    ("There is concern for pneumonia.", "Pneumonia ?"),
    ("There is a possibility of a small pneumothorax.", "Pneumothorax ?"),
    ("Pneumonia remains a concern.", "Pneumonia ?"),
    ("Little if any pleural fluid.", "Pleural Effusion ?"),
    ("Pneumonia can't be ruled out.", "Pneumonia ?"),
    ("The appearance is not typical of pneumonia.", "Pneumonia ?"),
    ("Atelectasis is favoured over consolidation.", "Consolidation ?, Atelectasis +"),
    ("Small effusions suspected.", "Pleural Effusion ?"),
    ("Cannot exclude early pneumonia.", "Pneumonia ?"),
    ("A small pneumothorax cannot be excluded.", "Pneumothorax ?"),
    ("It would be difficult to exclude a superimposed pneumonia.", "Pneumonia ?"),
    ("No large effusion, but a small one cannot be excluded.", "Pleural Effusion ?"),
    ("Opacity concerning for pneumonia.", "Lung Opacity +, Pneumonia ?"),
    ("Opacity may represent atelectasis or pneumonia.", "Lung Opacity +, Pneumonia ?, Atelectasis ?"),
    (
        "Opacity which may be atelectasis, effusion, or pneumonia.",
        "Lung Opacity +, Pneumonia ?, Atelectasis ?, Pleural Effusion ?",
    ),
    ("Pneumonia is unlikely.", "Pneumonia ?"),
    ("Supervening pneumonia should be considered.", "Pneumonia ?"),
    ("?pneumonia", "Pneumonia ?"),
    ("Pneumonia? No effusion.", "Pneumonia ?, Pleural Effusion -"),
    (
        "Hazy opacification suggests effusions with compressive atelectasis.",
        "Lung Opacity +, Atelectasis +, Pleural Effusion ?",
    ),
    ("Opacity consistent with pneumonia.", "Lung Opacity +, Pneumonia +"),
    ("Opacity is likely atelectasis.", "Lung Opacity +, Atelectasis +"),
    # alternatives
    ("Atelectasis versus pneumonia.", "Pneumonia ?, Atelectasis ?"),
    ("Atelectasis/infiltrate at the left base.", "Lung Opacity ?, Atelectasis ?"),
    ("Retrocardiac opacity, atelectasis or consolidation.", "Lung Opacity +, Consolidation ?, Atelectasis ?"),
    ("Chest tube or catheter in place.", "Support Devices +, No Finding +"),
    ("Opacity c/w atelectasis.", "Lung Opacity +, Atelectasis +"),
    # history and requests
    ("History of pneumonia.", "No Finding +"),
    ("Rule out pneumonia.", "No Finding +"),
    ("Status post lobectomy for lung cancer, no recurrence.", "No Finding +"),
    ("After resection of a mass, there is a small effusion.", "Pleural Effusion +"),
    ("Please evaluate for pneumothorax.", "No Finding +"),
    ("INDICATION: pneumonia. FINDINGS: No effusion.", "Pleural Effusion -, No Finding +"),
    ("INDICATION: pneumonia.", ""),
    ("The previously seen effusion has resolved, and atelectasis is improved.", "Atelectasis +, Pleural Effusion -"),
    ("The previously seen effusion is smaller.", "Pleural Effusion +"),
    # the heart and the mediastinum
    ("Heart size is normal.", "Cardiomegaly -, No Finding +"),
    ("Normal heart.", "Cardiomegaly -, No Finding +"),
    ("The heart is not enlarged.", "Cardiomegaly -, No Finding +"),
    ("The heart is mildly enlarged.", "Cardiomegaly +"),
    ("Cardiac silhouette is enlarged but unchanged.", "Cardiomegaly +"),
    ("Enlargement of the cardiac silhouette.", "Cardiomegaly +"),
    ("The heart is borderline enlarged.", "Cardiomegaly ?"),
    ("Borderline cardiomegaly.", "Cardiomegaly ?"),
    ("The cardiac silhouette is prominent.", "Cardiomegaly ?"),
    ("The heart size is difficult to evaluate but likely enlarged.", "Cardiomegaly +"),
    ("Heart size is stable.", "No Finding +"),
    ("Heart: enlarged. Lungs: clear.", "Cardiomegaly +"),
    ("Lungs clear heart enlarged", "Cardiomegaly +"),
    ("heart is enlarged lungs are clear", "Cardiomegaly +"),
    ("Heart is normal in size the lungs show a nodule", "Cardiomegaly -, Lung Lesion +"),
    ("There is an enlarged heart with normal vasculature.", "Cardiomegaly +, Edema -"),
    ("Heart size is normal with a large left effusion.", "Cardiomegaly -, Pleural Effusion +"),
    ("Heart size is normal and there is a small left effusion.", "Cardiomegaly -, Pleural Effusion +"),
    ("Heart size within normal limits, stable mediastinal contours.", "Cardiomegaly -, No Finding +"),
    ("Normal heart size and mediastinal contours.", "Enlarged Cardiomediastinum -, Cardiomegaly -, No Finding +"),
    ("The heart, mediastinum, and lungs are normal.", "Enlarged Cardiomediastinum -, Cardiomegaly -, No Finding +"),
    ("Cardiomediastinal silhouette is within normal limits.", "Enlarged Cardiomediastinum -, No Finding +"),
    ("The cardiomediastinal silhouette is enlarged.", "Enlarged Cardiomediastinum +"),
    ("The mediastinum is widened.", "Enlarged Cardiomediastinum +"),
    ("No mediastinal widening.", "Enlarged Cardiomediastinum -, No Finding +"),
    ("Feeding tube overlying the heart.", "Support Devices +, No Finding +"),
    ("The tube ends in the region of the heart.", "Support Devices +, No Finding +"),
    # markings and vessels
    ("Interstitial markings are increased.", "Lung Opacity +"),
    ("Interstitial markings are normal.", "Lung Opacity -, No Finding +"),
    ("Mildly prominent interstitial markings.", "Lung Opacity +"),
    ("Pulmonary vessels are engorged.", "Edema +"),
    ("Pulmonary vasculature is not engorged.", "Edema -, No Finding +"),
    # what has no class
    ("Hyperinflated lungs.", ""),
    ("Air bronchograms.", ""),
    ("No hyperinflation.", "No Finding +"),
    ("Small pericardial effusion.", ""),
    ("Calcified nodule in the left lung.", ""),
    ("The nodule is calcified.", ""),
    ("Collapse of the T12 vertebral body.", ""),
    ("Soft tissue edema of the chest wall.", ""),
    ("Mass effect on the trachea.", "No Finding +"),
    ("Unremarkable chest.", "No Finding +"),
    ("Small effusion. No other abnormality.", "Pleural Effusion +"),
    # several mentions
    ("Possible effusion. Effusion on the left. No effusion on the right.", "Pleural Effusion +"),
    ("No effusion on the left. Possible effusion on the right.", "Pleural Effusion ?"),
    # nothing said
    (".", ""),
    ("XXXX ___", ""),
    ("12.5", ""),
]


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_sentence(text: str, expected: str) -> None:
    (row,) = label([text])
    found = [f"{name} {_SIGNS[code]}" for name, code in zip(NAMES, row.tolist(), strict=True) if code]
    assert found == [entry for entry in expected.split(", ") if entry]


def test_mentions_name_the_words_that_decided() -> None:
    (effusion, pneumonia) = mentions("No effusion. Pneumonia cannot be excluded.")
    assert (effusion.name, effusion.status, effusion.phrase, effusion.cue) == (
        "Pleural Effusion",
        NEGATIVE,
        "effusion",
        "no",
    )
    assert (pneumonia.status, pneumonia.phrase, pneumonia.cue) == (UNCERTAIN, "pneumonia", "cannot be excluded")


def test_mentions_tell_apart_what_one_class_holds_together() -> None:
    found = mentions("Vascular congestion and edema. Pericardial effusion.")
    assert [(mention.name, mention.concept) for mention in found] == [
        ("Edema", "congestion"),
        ("Edema", "edema"),
        (None, "pericardial effusion"),
    ]


def test_history_is_mentioned_without_a_status() -> None:
    assert [(mention.concept, mention.status) for mention in mentions("History of pneumonia.")] == [("pneumonia", 0)]
