"""Reports: one HTML or Markdown file about a run."""
