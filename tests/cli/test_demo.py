def test_demo_writes_its_folder_and_says_so(tmp_path, dgme):
    shown = dgme("demo", "--out", tmp_path / "out", "--seed", 1)
    assert (shown.code, shown.err) == (0, "")
    assert "entropy" in shown.out
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"demo.png", "predictions.csv", "model.dgme"}
    for name in names:
        assert name in shown.out.replace("\n", "")
