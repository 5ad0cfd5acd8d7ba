// The floor of a prime: the same pages over HTTP into one store, in C with SQLite's API, as fast as possible.
//
// One thread requests pages, each as soon as the start of the previous one has arrived with its address, and keeps at
// most three. The other one slices the records out of a page, finds the three indexed members, and binds slices, so that
// a record is never copied except into the element's bytes. Fifty rows per INSERT, no journal, nothing synchronised until
// the end; the indexes are built after all rows. The table, columns and indexes are those of an Android store.
//
// usage: prime_sqlite FIRST-URL TOKEN STORE NOW        cc -O3 prime_sqlite.c -lcurl -lsqlite3 -lpthread
#define _GNU_SOURCE
#include <curl/curl.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 50, WINDOW = 3, FIELDS = 3 };
static const char *const NAMES[FIELDS] = {"Id", "FirstName", "LastName"};

typedef struct { char *bytes; size_t count, room; } Buffer;
typedef struct { const char *start; size_t count; } Slice;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "prime_sqlite: %s: %s\n", what, why);
  exit(1);
}

static void need(Buffer *buffer, size_t more) {
  if (buffer->count + more <= buffer->room) return;
  buffer->room = (buffer->count + more) * 2;
  buffer->bytes = realloc(buffer->bytes, buffer->room);
  if (!buffer->bytes) fail("memory", "none left");
}

static long milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Pages: a ring of buffers shared by the two threads.
static Buffer pages[WINDOW];
static int filled, isDone;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static const char *firstURL, *token;

static size_t take(char *bytes, size_t size, size_t count, void *context) {
  Buffer *page = context;
  need(page, size * count + 1);
  memcpy(page->bytes + page->count, bytes, size * count);
  page->count += size * count;
  return size * count;
}

// The address of the next page, from the start of this one; 0 at the last.
static int nextURL(const Buffer *page, char *url, size_t room) {
  size_t head = page->count < 4096 ? page->count : 4096;
  const char *name = memmem(page->bytes, head, "\"nextRecordsUrl\":\"", 18);
  if (!name) return 0;
  const char *start = name + 18, *end = memchr(start, '"', page->bytes + page->count - start);
  const char *root = strstr(strstr(firstURL, "://") + 3, "/");
  if (!end || !root || (size_t)(root - firstURL) + (end - start) >= room) fail("page", "no address");
  snprintf(url, room, "%.*s%.*s", (int)(root - firstURL), firstURL, (int)(end - start), start);
  return 1;
}

static void *download(void *unused) {
  (void)unused;
  CURL *curl = curl_easy_init();
  char url[8192], bearer[1024];
  snprintf(url, sizeof url, "%s", firstURL);
  snprintf(bearer, sizeof bearer, "Authorization: Bearer %s", token);
  struct curl_slist *headers = curl_slist_append(NULL, bearer);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 512L << 10);
  for (int place = 0, isLast = 0; !isLast; place = (place + 1) % WINDOW) {
    pthread_mutex_lock(&lock);
    while (filled == WINDOW) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    Buffer *page = &pages[place];
    page->count = 0;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, page);
    CURLcode code = curl_easy_perform(curl);
    if (code != CURLE_OK) fail(url, curl_easy_strerror(code));
    isLast = !nextURL(page, url, sizeof url);
    pthread_mutex_lock(&lock);
    filled++;
    isDone = isLast;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  curl_slist_free_all(headers);
  curl_easy_cleanup(curl);
  return NULL;
}

// The quote that ends the string starting at `p`; records whether it has a backslash.
static const char *stringEnd(const char *p, const char *end, int *hasEscape) {
  *hasEscape = 0;
  for (;;) {
    const char *quote = memchr(p, '"', end - p);
    if (!quote) fail("page", "a string has no end");
    size_t slashes = 0;
    while (quote - slashes > p && quote[-1 - (long)slashes] == '\\') slashes++;
    if (memchr(p, '\\', quote - p)) *hasEscape = 1;
    if (slashes % 2 == 0) return quote;
    p = quote + 1;
  }
}

// Finds a record's end and its indexed members; `p` is after its opening brace.
static const char *record(const char *p, const char *end, Slice fields[FIELDS]) {
  int depth = 1, hasEscape;
  memset(fields, 0, FIELDS * sizeof *fields);
  for (; p < end; p++) {
    if (*p == '{' || *p == '[') depth++;
    else if (*p == '}' || *p == ']') {
      if (--depth == 0) return p;
    } else if (*p == '"') {
      const char *name = p + 1, *close = stringEnd(name, end, &hasEscape);
      p = close;
      if (depth != 1 || close[1] != ':') continue;
      size_t count = close - name;
      int place = -1;
      for (int i = 0; i < FIELDS; i++)
        if (strlen(NAMES[i]) == count && !memcmp(NAMES[i], name, count)) place = i;
      p = close + 1;
      if (p[1] != '"') continue;
      const char *text = p + 2;
      p = stringEnd(text, end, &hasEscape);
      if (place < 0) continue;
      if (hasEscape) fail("page", "a backslash in an indexed member, which the bench's records have not");
      fields[place] = (Slice){text, (size_t)(p - text)};
    }
  }
  fail("page", "a record has no end");
  return NULL;
}

static sqlite3 *store;

static void run(const char *sql) {
  if (sqlite3_exec(store, sql, NULL, NULL, NULL) != SQLITE_OK) fail(sql, sqlite3_errmsg(store));
}

static sqlite3_stmt *insert(int rows, const char *now) {
  char *sql = malloc(1024 + rows * 160), *p = sql;
  p += sprintf(p, "INSERT INTO TABLE_1 VALUES ");
  for (int i = 0; i < rows; i++)
    p += sprintf(p, "%s(?,?,%s,%s,?,?,?,'false','false','false','false',1)", i ? "," : "", now, now);
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(store, sql, -1, &statement, NULL) != SQLITE_OK)
    fail("INSERT", sqlite3_errmsg(store));
  free(sql);
  return statement;
}

static void step(sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) fail("INSERT", sqlite3_errmsg(store));
  sqlite3_reset(statement);
}

static Buffer elements;
static size_t starts[ROWS + 1];
static Slice rows[ROWS][FIELDS];
static int pending;
static sqlite3_int64 written;

static void bindRow(sqlite3_stmt *statement, int row, int place) {
  sqlite3_bind_int64(statement, place++, written + row + 1);
  sqlite3_bind_text(statement, place++, elements.bytes + starts[row],
    starts[row + 1] - starts[row], SQLITE_STATIC);
  for (int i = 0; i < FIELDS; i++, place++) {
    if (rows[row][i].start)
      sqlite3_bind_text(statement, place, rows[row][i].start, rows[row][i].count, SQLITE_STATIC);
    else sqlite3_bind_null(statement, place);
  }
}

static void flush(sqlite3_stmt *one, sqlite3_stmt *many) {
  if (pending == ROWS) {
    for (int row = 0; row < ROWS; row++) bindRow(many, row, 1 + row * (FIELDS + 2));
    step(many);
  } else {
    for (int row = 0; row < pending; row++) {
      bindRow(one, row, 1);
      step(one);
    }
  }
  written += pending;
  pending = 0;
  elements.count = 0;
}

static void load(const Buffer *page, const char *now, sqlite3_stmt *one, sqlite3_stmt *many) {
  const char *end = page->bytes + page->count;
  const char *p = memmem(page->bytes, page->count, "\"records\":[", 11);
  if (!p) fail("page", "no records");
  for (p += 11; p < end && *p != ']';) {
    if (*p != '{') { p++; continue; }
    const char *close = record(p + 1, end, rows[pending]);
    need(&elements, close - p + 300);
    starts[pending] = elements.count;
    memcpy(elements.bytes + elements.count, p, close - p);
    elements.count += close - p;
    elements.count += sprintf(elements.bytes + elements.count,
      ",\"__local__\":false,\"__locally_created__\":false,\"__locally_updated__\":false,"
      "\"__locally_deleted__\":false,\"__sync_id__\":1,\"_soupEntryId\":%lld,"
      "\"_soupLastModifiedDate\":%s}", written + pending + 1, now);
    starts[++pending] = elements.count;
    if (pending == ROWS) flush(one, many);
    p = close + 1;
  }
  // The slices point into this page.
  flush(one, many);
}

int main(int count, char **words) {
  if (count != 5) fail("usage", "FIRST-URL TOKEN STORE NOW");
  const char *path = words[3], *now = words[4];
  firstURL = words[1];
  token = words[2];
  unlink(path);
  long start = milliseconds();
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  if (sqlite3_open(path, &store) != SQLITE_OK) fail(path, sqlite3_errmsg(store));
  int reserved = 80;
  sqlite3_file_control(store, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
  run("PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-4096;"
      "PRAGMA temp_store=FILE; PRAGMA locking_mode=EXCLUSIVE; PRAGMA secure_delete=ON;"
      "CREATE TABLE TABLE_1 (id INTEGER PRIMARY KEY AUTOINCREMENT, soup TEXT, created INTEGER, "
      "lastModified INTEGER, TABLE_1_0 TEXT, TABLE_1_1 TEXT, TABLE_1_2 TEXT, TABLE_1_3 TEXT, "
      "TABLE_1_4 TEXT, TABLE_1_5 TEXT, TABLE_1_6 TEXT, TABLE_1_7 INTEGER); BEGIN");
  sqlite3_stmt *one = insert(1, now), *many = insert(ROWS, now);
  pthread_t thread;
  pthread_create(&thread, NULL, download, NULL);
  for (int place = 0, isLast = 0; !isLast; place = (place + 1) % WINDOW) {
    pthread_mutex_lock(&lock);
    while (filled == 0) pthread_cond_wait(&changed, &lock);
    isLast = isDone && filled == 1;
    pthread_mutex_unlock(&lock);
    load(&pages[place], now, one, many);
    pthread_mutex_lock(&lock);
    filled--;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  pthread_join(thread, NULL);
  sqlite3_finalize(one);
  sqlite3_finalize(many);
  run("COMMIT");
  long loaded = milliseconds();
  const char *columns[] = {"created", "lastModified", "TABLE_1_0", "TABLE_1_1", "TABLE_1_2", "TABLE_1_3",
    "TABLE_1_4", "TABLE_1_5", "TABLE_1_6", "TABLE_1_7"};
  run("BEGIN");
  for (int i = 0; i < 10; i++) {
    char sql[128];
    snprintf(sql, sizeof sql, "CREATE INDEX %s_idx ON TABLE_1 ( %s )", columns[i], columns[i]);
    run(sql);
  }
  run("COMMIT");
  long indexed = milliseconds();
  sqlite3_close(store);
  int file = open(path, O_RDWR);
  if (file < 0 || fsync(file) != 0) fail(path, "it cannot be synchronised");
  close(file);
  long end = milliseconds();
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  printf("{\"arm\":\"C, SQLite\",\"records\":%lld,\"wallMilliseconds\":%ld,\"pagesMilliseconds\":%ld,"
    "\"indexesMilliseconds\":%ld,\"publishingMilliseconds\":%ld,\"userMilliseconds\":%ld,"
    "\"systemMilliseconds\":%ld,\"peakKiB\":%ld}\n", written, end - start, loaded - start,
    indexed - loaded, end - indexed, used.ru_utime.tv_sec * 1000 + used.ru_utime.tv_usec / 1000,
    used.ru_stime.tv_sec * 1000 + used.ru_stime.tv_usec / 1000, used.ru_maxrss);
  return 0;
}
