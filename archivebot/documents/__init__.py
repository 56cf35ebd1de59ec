"""The texts of documents: PDF, Word, Excel, PowerPoint, OpenDocument and RTF."""
