import Reconciliation

extension ReconcileSettings {
  /// The correlation fields, ordered by object name.
  var correlationFields: [CorrelationField] {
    correlationField.sorted { $0.key < $1.key }
      .map { CorrelationField(sobject: $0.key, name: $0.value) }
  }
}
