import Arguments

/// When messages have color.
enum ColorChoice: String, ArgumentValue, CaseIterable {
  case auto, always, never
}
