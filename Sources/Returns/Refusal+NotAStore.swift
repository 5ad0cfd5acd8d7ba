/// The refusals of files that are not stores, or cannot be opened.
extension Refusal {
  /// The fix for a file that arrived incomplete or damaged.
  static let sendAgain = "have the device send its store again"

  /// The file does not start like an SQLite file.
  static func notADatabase(_ name: String) -> Refusal {
    Refusal(
      .notADatabase, "\(name) is not an SQLite file; it is damaged, or encrypted",
      fix:
        "have the device send a plain export of the store, or one sealed with the pipeline's passphrase"
    )
  }

  /// It has no bytes.
  static func empty(_ name: String) -> Refusal {
    Refusal(
      .notADatabase, "\(name) is empty (0 bytes); its upload may have been cut off", fix: sendAgain)
  }

  /// The file is a database, but lacks something that every SmartStore has, or contains something
  /// that none has.
  static func notAStore(_ name: String, _ reason: String) -> Refusal {
    Refusal(
      .notAStore, "\(name) is not a SmartStore as the SDK creates it: \(reason)",
      fix: "have the device send the store file itself; soups may be added, other tables may not")
  }

  /// The file looks sealed, and the pipeline's passphrase does not open it.
  static func sealedOrNoStore(_ name: String) -> Refusal {
    Refusal(
      .wrongKey,
      "\(name) does not open with the pipeline's passphrase: it is sealed with another key, or is not a "
        + "store",
      fix:
        "have the device export it plain or with the pipeline's passphrase (inbox.passphrase), and send it again; if the "
        + "passphrase was changed, write the former one as inbox.passphrase, and then run "
        + "attache returns release PIPELINE NAME"
    )
  }

  /// The file is a damaged store.
  static func damaged(_ name: String, _ reason: String) -> Refusal {
    unsound(name, "is damaged: \(reason)")
  }

  /// The content cannot be that of a store; `words` give the reason.
  static func unsound(_ name: String, _ words: String) -> Refusal {
    Refusal(.damaged, "\(name) \(words)", fix: sendAgain)
  }

  /// The fix for a file that is too large.
  private static let raiseLimit = "raise inbox.limits.fileMiB if it is genuine"

  /// The file is larger than a number of bytes, and not a byte of it is copied.
  package static func tooLargeToTake(_ name: String, than bytes: Int64) -> Refusal {
    Refusal(
      .tooLarge, "\(name) is larger than \(bytes >> 20) MiB and stays in the inbox",
      fix: "remove it from the inbox, or " + raiseLimit)
  }

  /// The name is that of a link, a directory or a device.
  package static func notAFile(_ name: String, _ kind: String) -> Refusal {
    Refusal(
      .archive, "\(name) is \(kind), not a regular file", fix: "put the file itself into the inbox")
  }

  /// A companion of a store that is not there.
  static func lonely(_ name: String, without store: String) -> Refusal {
    Refusal(
      .alone, "\(name) belongs to \(store), which is not in the inbox",
      fix: "add the store to the inbox, or remove the file")
  }

  /// The name of a companion differs from the right one in upper and lower case.
  static func misnamed(_ name: String, right: String) -> Refusal {
    Refusal(
      .alone, "\(name) is not \(right), so it is not read as the companion of its store",
      fix: "rename it to \(right); or, if it belongs to no store, remove it")
  }

  /// The name is not UTF-8, so it cannot be opened as it was read.
  package static func unreadableName(_ name: String) -> Refusal {
    Refusal(
      .name, "the name \(name) in the inbox is not UTF-8", fix: "give the file another name")
  }

  /// The file changed while it was read.
  package static func changing(_ name: String) -> Refusal {
    Refusal(
      .changing, "\(name) changed while it was taken",
      fix: "nothing to do: the next run takes it when it no longer changes")
  }

  /// The file is larger than a number of bytes.
  ///
  /// `beside` is inserted into the message.
  static func tooLarge(_ name: String, than bytes: Int64, beside: String = "") -> Refusal {
    Refusal(.tooLarge, "\(name) is larger than \(bytes >> 20) MiB\(beside)", fix: raiseLimit)
  }
}
