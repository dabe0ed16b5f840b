"""Other people's private learners by the code of their authors' repositories, which is built when it is first used."""
