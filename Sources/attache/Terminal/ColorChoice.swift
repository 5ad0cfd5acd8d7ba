import Arguments

/// When messages have colour.
enum ColorChoice: String, ArgumentValue, CaseIterable {
  case auto, always, never
}
