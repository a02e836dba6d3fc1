"""The paper's experiments, and what runs, resumes, tabulates and draws them."""
