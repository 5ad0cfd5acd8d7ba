/// Pipeline files that are broken as text, or whose keys and values are.
extension BrokenConfiguration {
  static let text: [BrokenConfiguration] = [
    BrokenConfiguration(
      "an empty file",
      [.whole(.pipeline, "")],
      #"""
      pipeline.json:1:1: the file is empty; write an object in braces
      """#),
    BrokenConfiguration(
      "a file that is no object",
      [.whole(.pipeline, "[]")],
      #"""
      pipeline.json:1:1: this must be an object, not an array; write a pipeline file in braces: { … }
      """#),
    BrokenConfiguration(
      "a file that is not UTF-8",
      [.bytes(.pipeline, [0x7B, 0xFF])],
      #"""
      pipeline.json:1:2: the file is not UTF-8 from here on; save it as UTF-8
      """#),
    BrokenConfiguration(
      "a trailing comma",
      [
        .edit(
          .pipeline, "\"platforms\": [\"ios\"],\n  \"limits\": {\"jobs\": 60}",
          "\"platforms\": [\"ios\"],\n  \"limits\": {\"jobs\": 60},")
      ],
      #"""
      pipeline.json:23:25: a comma stands before the closing }; remove the comma
      """#),
    BrokenConfiguration(
      "a comment",
      [.edit(.pipeline, #""format": 1,"#, #""format": 1, // the first"#)],
      #"""
      pipeline.json:2:16: JSON has no comments; remove the comment
      """#),
    BrokenConfiguration(
      "single quotes",
      [.edit(.pipeline, #""name": "first""#, #""name": 'first'"#)],
      #"""
      pipeline.json:3:11: JSON has no single quotes (' and '); write "first"
      """#),
    BrokenConfiguration(
      "a name without quotes",
      [.edit(.pipeline, #""name": "first""#, #"name: "first""#)],
      #"""
      pipeline.json:3:3: this name has no quotes; write "name"
      """#),
    BrokenConfiguration(
      "a text without quotes",
      [.edit(.pipeline, #"["ios"]"#, "[ios]")],
      #"""
      pipeline.json:22:17: this text has no quotes; write "ios"
      """#),
    BrokenConfiguration(
      "a missing comma",
      [.edit(.pipeline, #""format": 1,"#, #""format": 1"#)],
      #"""
      pipeline.json:2:14: a comma is missing after this value; write a comma
      """#),
    BrokenConfiguration(
      "a missing colon",
      [.edit(.pipeline, #""format": 1"#, #""format" 1"#)],
      #"""
      pipeline.json:2:11: a colon is missing after "format"; write a colon
      """#),
    BrokenConfiguration(
      "a missing bracket",
      [.edit(.pipeline, #"["ios"]"#, #"["ios""#)],
      #"""
      pipeline.json:23:11: ":" cannot stand here; write a comma, or ] to close the array that opens at line 22
      """#),
    BrokenConfiguration(
      "a key that is there twice",
      [.edit(.pipeline, #""format": 1,"#, #""format": 1, "format": 1,"#)],
      #"""
      pipeline.json:2:16: "format" appears twice in one object; keep one of them; the other is on line 2
      """#),
    BrokenConfiguration(
      "a word that JSON writes in small letters",
      [.edit(.pipeline, #""platforms""#, "\"reconcile\": {\"strict\": True},\n  \"platforms\"")],
      #"""
      pipeline.json:22:27: True is not a JSON word; write true
      """#),
    BrokenConfiguration(
      "a no-break space",
      [.edit(.pipeline, #""name": "first""#, #""name": "first""#)],
      #"""
      pipeline.json:3:10: U+00A0 is not white space in JSON; write an ordinary space
      """#),
    BrokenConfiguration(
      "something after the end",
      [.edit(.pipeline, "\"limits\": {\"jobs\": 60}\n}", "\"limits\": {\"jobs\": 60}\n}}")],
      #"""
      pipeline.json:24:2: something follows the end of the file's object; remove it
      """#),
    BrokenConfiguration(
      "a string that is not closed",
      [.edit(.pipeline, #""name": "first","#, #""name": "first,"#)],
      #"""
      pipeline.json:3:11: the string that opens here is not closed on its line; write " at its end; a line break cannot stand in a string
      """#),
    BrokenConfiguration(
      "an unknown key",
      [.edit(.pipeline, #""platforms""#, #""platform""#)],
      #"""
      pipeline.json:22:3: platform: a pipeline file has no key "platform"; did you mean "platforms"?
      """#),
    BrokenConfiguration(
      "a key that nobody can guess",
      [.edit(.pipeline, #""limits""#, #""zzz": 1, "limits""#)],
      #"""
      pipeline.json:23:3: zzz: a pipeline file has no key "zzz"; remove it; the keys are "format", "name", "org", "users", "stores", "platforms", "prime", "pack", "inbox", "reconcile", "report", "notify", "keep", "limits"
      """#),
    BrokenConfiguration(
      "a number in quotes",
      [.edit(.pipeline, #""jobs": 60"#, #""jobs": "60""#)],
      #"""
      pipeline.json:23:22: limits.jobs: this must be a whole number, not a string; write 60 without quotes
      """#),
    BrokenConfiguration(
      "a number out of range",
      [.edit(.pipeline, #""jobs": 60"#, #""jobs": 0"#)],
      #"""
      pipeline.json:23:22: limits.jobs: 0 is out of range; write a whole number of at least 1 and at most 1024
      """#),
    BrokenConfiguration(
      "a format that is newer",
      [.edit(.pipeline, #""format": 1"#, #""format": 2"#)],
      #"""
      pipeline.json:2:13: format: format 2 is newer than this attache, which knows 1; install a newer attache
      """#),
    BrokenConfiguration(
      "no format",
      [.edit(.pipeline, "  \"format\": 1,\n", "")],
      #"""
      pipeline.json:1:1: a pipeline file needs "format"; add "format": 1
      """#),
    BrokenConfiguration(
      "a name that cannot name a directory",
      [.edit(.pipeline, #""first""#, #""First Line""#)],
      #"""
      pipeline.json:3:11: name: "First Line" cannot name a directory: a to z, 0 to 9 and -, at most 40; write "first-line"
      """#),
    BrokenConfiguration(
      "an unknown platform",
      [.edit(.pipeline, #"["ios"]"#, #"["iOS"]"#)],
      #"""
      pipeline.json:22:17: platforms[0]: "iOS" is not a platform; did you mean "ios"? It is one of "ios", "android"
      """#),
    BrokenConfiguration(
      "a platform that is there twice",
      [.edit(.pipeline, #"["ios"]"#, #"["ios", "ios"]"#)],
      #"""
      pipeline.json:22:24: platforms[1]: "ios" is there twice; keep one
      """#),
    BrokenConfiguration(
      "a percentage that is a number",
      [
        .edit(
          .pipeline, #""limits""#, "\"prime\": {\"ghosts\": {\"maxDeletes\": 10}},\n  \"limits\"")
      ],
      #"""
      pipeline.json:23:38: prime.ghosts.maxDeletes: this must be a percentage, not a number; write "10%"
      """#),
    BrokenConfiguration(
      "a share that is none",
      [
        .edit(
          .pipeline, #""limits""#,
          "\"reconcile\": {\"maxChanges\": {\"deletes\": \"110%\"}},\n  \"limits\"")
      ],
      #"""
      pipeline.json:23:43: reconcile.maxChanges.deletes: "110%" is not a percentage; write "10%"
      """#),
    BrokenConfiguration(
      "a flag in quotes",
      [.edit(.pipeline, #""limits""#, "\"reconcile\": {\"strict\": \"true\"},\n  \"limits\"")],
      #"""
      pipeline.json:23:27: reconcile.strict: this must be true or false, not a string; write true without quotes
      """#),
    BrokenConfiguration(
      "a merge word that is not known",
      [
        .edit(
          .pipeline, #""limits""#, "\"reconcile\": {\"recreateDeleted\": \"always\"},\n  \"limits\""
        )
      ],
      #"""
      pipeline.json:23:36: reconcile.recreateDeleted: "always" is not a way to decide; write one of "whenProvedDeleted", "never", "asSDK"
      """#),
    BrokenConfiguration(
      "an inbox outside",
      [.edit(.pipeline, #""limits""#, "\"inbox\": {\"path\": \"../inbox\"},\n  \"limits\"")],
      #"""
      pipeline.json:23:21: inbox.path: "../inbox" leads out of the pipeline's directory; write a name below snapshots/, or a whole path
      """#),
  ]
}
