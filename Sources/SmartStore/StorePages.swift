/// The pages of a store's file, plain or sealed.
package enum StorePages {
  /// SmartStore's page size; also SQLCipher's, so that a file can be sealed page by page.
  package static let size: Int32 = 4096
  /// The bytes that SQLCipher 4 needs at the end of each page: 16 for the IV and 64 for the HMAC.
  package static let reservedBytes: Int32 = 80
}
