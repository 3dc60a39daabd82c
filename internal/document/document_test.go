package document

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever the parts are, what unpacks is the body.
func TestPartsUnpackToTheBody(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 1, 5).Draw(rt, "parts")
		if rapid.Bool().Draw(rt, "long") {
			parts = append(parts, []byte(strings.Repeat("seat ", 20_000)))
		}
		d, err := New(parts...)
		if err != nil {
			rt.Fatal(err)
		}
		if want := bytes.Join(parts, nil); !bytes.Equal(d.Body, want) || !bytes.Equal(unpacked(rt, d.Gzip), want) {
			rt.Fatalf("%d bytes of %d parts came back as others", len(want), len(parts))
		}
	})
}

func unpacked(t rapid.TB, small []byte) []byte {
	t.Helper()
	in := bytes.NewReader(small)
	r, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	r.Multistream(false) // browsers read one
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if in.Len() > 0 {
		t.Fatalf("%d bytes after the end", in.Len())
	}
	return text
}

// A body has one name, however it was cut, and its two representations have two.
func TestANameIsTheBodys(t *testing.T) {
	name := func(parts ...[]byte) Document {
		d, err := New(parts...)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	one, cut, other := name([]byte("seats")), name([]byte("se"), []byte("ats")), name([]byte("seatz"))
	if one.ETag != cut.ETag || one.ETag == other.ETag || one.ETag == one.GzipETag {
		t.Errorf("ETags %s, %s (cut), %s (another), %s (gzip)", one.ETag, cut.ETag, other.ETag, one.GzipETag)
	}
}
