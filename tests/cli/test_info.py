import json

import dgme as library


def test_a_model_tells_of_itself(house_model, dgme):
    done = dgme("info", house_model.model, "--json")
    assert (done.code, done.err) == (0, "")
    facts, fitted = json.loads(done.out), json.loads(house_model.fitted)
    assert facts["dgme_version"] == library.__version__
    assert (facts["method"], facts["target"], facts["rows"]) == ("DGMERegressor", "price", 145)
    assert facts["settings"]["n_rounds"] == 3
    assert "verbose" not in facts["settings"]
    for name in ("columns", "weights", "size"):
        assert facts[name] == fitted[name]


def test_people_read_tables(house_model, dgme):
    done = dgme("info", house_model.model)
    assert (done.code, done.err) == (0, "")
    for words in ("price", "n_rounds=3", "town", "categorical", library.__version__):
        assert words in done.out
