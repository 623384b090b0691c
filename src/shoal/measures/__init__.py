"""What a release costs in information."""

from shoal.measures.loss import AttributeLoss, InformationLoss, information_loss

__all__ = ["AttributeLoss", "InformationLoss", "information_loss"]
