"""Other people's private learners: by their own packages, or written anew from papers, which their headers say."""
