package stripe

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v85/webhook"
)

var now = time.Unix(1_800_000_000, 0)

// signed is a header as the vendor's own code makes it.
func signed(body, secret string, at time.Time) string {
	return webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{
		Payload: []byte(body), Secret: secret, Timestamp: at,
	}).Header
}

func TestANoticeIsAcceptedOnlyWithASecretAndInTime(t *testing.T) {
	const body = `{"id":"evt_1"}`
	v, err := NewVerifier([]string{"whsec_new", "whsec_old"}, Tolerance)
	if err != nil {
		t.Fatal(err)
	}
	good := signed(body, "whsec_new", now)
	stamp, sum, _ := strings.Cut(good, ",")
	for _, c := range []struct {
		what, body, header string
		want               error
	}{
		{"new secret", body, good, nil},
		{"old secret, while rotating", body, signed(body, "whsec_old", now), nil},
		{"300 s old", body, signed(body, "whsec_new", now.Add(-300*time.Second)), nil},
		{"300 s ahead", body, signed(body, "whsec_new", now.Add(300*time.Second)), nil},
		{"301 s old", body, signed(body, "whsec_new", now.Add(-301*time.Second)), TooOld},
		{"301 s ahead", body, signed(body, "whsec_new", now.Add(301*time.Second)), TooNew},
		{"a year ahead", body, signed(body, "whsec_new", now.AddDate(1, 0, 0)), TooNew},
		{"signed with an empty secret", body, signed(body, "", now), Mismatch},
		{"a stranger's secret", body, signed(body, "whsec_other", now), Mismatch},
		{"a stranger's secret, and old", body, signed(body, "whsec_other", now.AddDate(-1, 0, 0)), Mismatch},
		{"another body", body + " ", good, Mismatch},
		{"another stamp", body, "t=1800000001," + sum, Mismatch},
		{"a second v1 that is right", body, stamp + ",v1=" + strings.Repeat("0", 64) + "," + sum, nil},
		{"a v0 before", body, stamp + ",v0=abc," + sum, nil},
		{"a space before v1", body, stamp + ", " + sum, NoSignature},
		{"no header", body, "", NoSignature},
		{"no v1", body, stamp, NoSignature},
		{"only v0", body, stamp + ",v0=" + strings.TrimPrefix(sum, "v1="), NoSignature},
		{"a short v1", body, good[:len(good)-2], NoSignature},
		{"a v1 that is no hex", body, stamp + ",v1=" + strings.Repeat("z", 64), NoSignature},
		{"no stamp", body, sum, Malformed},
		{"two stamps", body, stamp + "," + good, Malformed},
		{"a stamp with a sign", body, "t=-1," + sum, Malformed},
		{"a stamp that is no number", body, "t=now," + sum, Malformed},
		{"an endless stamp", body, "t=" + strings.Repeat("9", 40) + "," + sum, Malformed},
		{"17 signatures", body, stamp + strings.Repeat(","+sum, 17), Malformed},
	} {
		if err := v.Verify([]byte(c.body), c.header, now); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
	}
	if err := new(Verifier).Verify([]byte(body), signed(body, "", now), now); !errors.Is(err, Mismatch) {
		t.Errorf("a verifier that nobody made: %v, want %v", err, Mismatch)
	}
}

func TestNoVerifierWithoutASecret(t *testing.T) {
	for _, secrets := range [][]string{nil, {}, {""}, {" "}, {"\n"}, {"whsec_a", ""}, {"whsec_a\n"}} {
		if v, err := NewVerifier(secrets, Tolerance); err == nil || v != nil {
			t.Errorf("secrets %q are accepted", secrets)
		}
	}
	for _, tolerance := range []time.Duration{0, -time.Second} {
		if _, err := NewVerifier([]string{"whsec_a"}, tolerance); err == nil {
			t.Errorf("a tolerance of %v is accepted", tolerance)
		}
	}
	if _, err := NewVerifier([]string{""}, Tolerance); strings.Contains(err.Error(), "whsec") {
		t.Errorf("the reason shows a secret: %v", err)
	}
}

// FuzzVerify: what is accepted, the vendor's own code accepts too (with its
// clock set to the stamp), and nothing makes either of them fall over.
func FuzzVerify(f *testing.F) {
	const secret = "whsec_fuzz"
	f.Add([]byte(`{}`), signed(`{}`, secret, now))
	f.Add([]byte(``), "t=1800000000,v1=")
	f.Add([]byte(`a`), "t=1800000000,v1="+strings.Repeat("0", 64)+",v1=x,t=1")
	f.Add([]byte(`b`), ",,=,t=,v1")
	v, err := NewVerifier([]string{secret, "whsec_second"}, Tolerance)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte, header string) {
		var reason Reason
		switch err := v.Verify(body, header, now); {
		case err == nil:
			first := webhook.ValidatePayloadIgnoringTolerance(body, header, secret)
			second := webhook.ValidatePayloadIgnoringTolerance(body, header, "whsec_second")
			if first != nil && second != nil {
				t.Errorf("accepted %q over %q, which the vendor refuses: %v", header, body, first)
			}
		case !errors.As(err, &reason):
			t.Errorf("an error that is no reason: %v", err)
		}
		own := signed(string(body), secret, now)
		if err := v.Verify(body, own, now); err != nil {
			t.Errorf("a signed body is refused: %v", err)
		}
		if err := v.Verify(append(body, 'x'), own, now); !errors.Is(err, Mismatch) {
			t.Errorf("a longer body under the same signature: %v", err)
		}
	})
}
