#ifndef ATTACHE_CCURL_H
#define ATTACHE_CCURL_H
#include <curl/curl.h>

// curl_easy_setopt, curl_multi_setopt and curl_easy_getinfo are variadic: one wrapper for each
// shape of value.
static inline CURLcode attache_curl_set_long(CURL *h, CURLoption o, long v) {
  return curl_easy_setopt(h, o, v);
}
static inline CURLcode attache_curl_set_offset(CURL *h, CURLoption o, curl_off_t v) {
  return curl_easy_setopt(h, o, v);
}
static inline CURLcode attache_curl_set_string(CURL *h, CURLoption o, const char *v) {
  return curl_easy_setopt(h, o, v);
}
static inline CURLcode attache_curl_set_pointer(CURL *h, CURLoption o, void *v) {
  return curl_easy_setopt(h, o, v);
}
static inline CURLcode attache_curl_set_list(CURL *h, CURLoption o, struct curl_slist *v) {
  return curl_easy_setopt(h, o, v);
}
typedef size_t (*attache_curl_data_callback)(char *data, size_t size, size_t count, void *context);
static inline CURLcode attache_curl_set_data_callback(CURL *h, CURLoption o,
                                                      attache_curl_data_callback v) {
  return curl_easy_setopt(h, o, v);
}
typedef int (*attache_curl_before_request)(void *context, char *remote, char *local, int remotePort,
                                           int localPort);
static inline CURLcode attache_curl_set_before_request(CURL *h, attache_curl_before_request v) {
  return curl_easy_setopt(h, CURLOPT_PREREQFUNCTION, v);
}
static inline CURLMcode attache_curl_multi_set_long(CURLM *m, CURLMoption o, long v) {
  return curl_multi_setopt(m, o, v);
}
static inline CURLcode attache_curl_get_long(CURL *h, CURLINFO i, long *v) {
  return curl_easy_getinfo(h, i, v);
}
static inline CURLcode attache_curl_get_pointer(CURL *h, CURLINFO i, void **v) {
  return curl_easy_getinfo(h, i, v);
}
// The result of a finished transfer stands in a union that Swift reads awkwardly.
static inline CURLcode attache_curl_message_result(const CURLMsg *m) { return m->data.result; }

#endif
