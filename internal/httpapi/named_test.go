package httpapi

import (
	"encoding/json"
	"testing"
	"time"
)

// A member has the very name that the contract gives it, wherever it stands; names
// that are data are left alone.
func TestAMemberHasItsVeryName(t *testing.T) {
	type named struct {
		ID string `json:"id"`
	}
	type body struct {
		named
		At   *time.Time       `json:"at"`
		Of   []*named         `json:"of"`
		By   map[string]named `json:"by"`
		Text json.RawMessage  `json:"text,omitempty"`
	}
	for text, ok := range map[string]bool{
		`{}`:   true,
		`null`: true,
		`{"id":"x","at":"2026-01-01T00:00:00Z","of":[{"id":"y"},null],"by":{"ID":{"id":"z"}},"text":{"ID":1}}`: true,
		`{"ID":"x"}`:                     false,
		`{"id":"x","Id":"y"}`:            false,
		`{"of":[{"id":"y"},{"iD":"z"}]}`: false,
		`{"by":{"x":{"Id":"z"}}}`:        false,
		`{"AT":null}`:                    false,
		`{"\u0131d":"dotless"}`:          false,
		`{"named":{"id":"x"}}`:           false,
	} {
		var b body
		if err := strictly([]byte(text), &b); (err == nil) != ok {
			t.Errorf("%s: %v, want it taken: %t", text, err, ok)
		}
	}
	var free map[string]json.RawMessage
	if err := strictly([]byte(`{"ID":1,"id":2}`), &free); err != nil {
		t.Errorf("names that are data: %v", err)
	}
}
