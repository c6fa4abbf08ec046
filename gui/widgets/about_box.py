"""What Inkling is, whose it is, and whose digits it brings along."""

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QMessageBox, QWidget


class AboutBox(QMessageBox):
    """A window beside the other one: training goes on, and so does drawing."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("About Inkling"))
        self.setText(f"<h3>Inkling {QCoreApplication.applicationVersion()}</h3>")
        self.setInformativeText(self._about())
        self.setModal(False)

    def _about(self) -> str:
        program = self.tr(
            "Trains neural networks on handwritten digits while you watch, and reads the digits you draw."
        )
        licence = self.tr("Inkling is free software under the MIT licence.")
        data = self.tr(
            "The digits are MNIST, by Yann LeCun and Corinna Cortes, derived from NIST's Special Databases 1 and 3, "
            "unchanged, under the licence Creative Commons Attribution-ShareAlike 3.0 (CC BY-SA 3.0):"
        )
        link = "https://creativecommons.org/licenses/by-sa/3.0/"
        return f"<p>{program}</p><p>{licence}</p><p>{data} <a href='{link}'>{link}</a></p>"
