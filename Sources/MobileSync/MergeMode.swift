/// What happens to a record that has changed on both sides.
public enum MergeMode: String, Sendable, Hashable, CaseIterable {
  /// The side that is written to loses.
  case overwrite = "OVERWRITE"
  /// A record that changed on the side that is written to stays as it is.
  case leaveIfChanged = "LEAVE_IF_CHANGED"
}
