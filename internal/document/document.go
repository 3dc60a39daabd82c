// Package document is bytes that are the same for everyone: made once, compressed
// once, named by what they are, and sent to any number of people.
package document

import "bytes"

// Document is such bytes, plain and as gzip, each with its strong ETag: they are
// two representations of one thing, and a cache may have either. Without Gzip it
// is sent as it is.
type Document struct {
	Body, Gzip     []byte
	ETag, GzipETag string
}

// New names and compresses a body, which may come in parts: each is compressed
// by itself, so that a long one without a pattern does not spoil the others.
func New(parts ...[]byte) (Document, error) {
	return Named(named(bytes.Join(parts, nil)), parts...)
}

// Named is New for bytes that have a name already.
func Named(name string, parts ...[]byte) (Document, error) {
	small, err := squeezed(parts)
	return Document{Body: bytes.Join(parts, nil), Gzip: small, ETag: `"` + name + `"`, GzipETag: `"` + name + `-gzip"`}, err
}
