import System
import Testing

extension World {
  func installSF(_ username: String) throws -> String {
    let token = try server.token(for: username)
    let script = """
      #!/bin/sh
      case "$*" in
      "org display --target-org field --json")
        echo '{"status":0,"result":{"accessToken":"[REDACTED]","instanceUrl":"\(server.url)"}}';;
      "org auth show-access-token --no-prompt --target-org field --json")
        echo '{"status":0,"result":{"accessToken":"\(token)"}}';;
      *) echo '{"status":1,"message":"no such alias"}'; exit 1;;
      esac
      """
    let place = directory.file("bin")
    try Files.makeDirectory(place)
    try DurableFile.write(Array(script.utf8), to: place + "/sf", mode: 0o700)
    return place
  }
}
