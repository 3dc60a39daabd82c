package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Secret is a signing key as its organiser gets it, once.
func Secret(key []byte) string { return "whsec_" + base64.StdEncoding.EncodeToString(key) }

// sign sets the headers of Standard Webhooks (v1): HMAC-SHA-256 over id, time and
// body, by each key that is valid now. at is this attempt's own time, not the
// notice's: receivers refuse what is old.
func sign(h http.Header, id string, at time.Time, body []byte, keys ...[]byte) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	var signatures []string
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + stamp + ".")) //nolint:errcheck // a hash takes everything
		mac.Write(body)                           //nolint:errcheck // a hash takes everything
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", stamp)
	h.Set("webhook-signature", strings.Join(signatures, " "))
}
