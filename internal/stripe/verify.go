package stripe

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far a notice's stamp may be from now, either way, unless
// the operator says otherwise.
const Tolerance = 300 * time.Second

// maxSignatures bounds the work that a stranger's header can cause. The
// provider sends one for each secret that is valid, two while rotating.
const maxSignatures = 16

// Reason is why a notice was not accepted. None of them is the provider's
// fault: whoever sent it does not hold a secret, or a clock is wrong.
type Reason uint8

// The reasons. Only a body that a secret signed can be TooOld or TooNew.
const (
	NoSignature Reason = iota + 1 // no header, or no v1 in it
	Malformed                     // the header is not of the provider's form
	Mismatch                      // no secret made any of the signatures
	TooOld                        // signed longer ago than the tolerance
	TooNew                        // signed further ahead than the tolerance
)

func (r Reason) Error() string {
	switch r {
	case NoSignature:
		return "notice carries no signature"
	case Malformed:
		return "signature header is malformed"
	case Mismatch:
		return "signature does not match"
	case TooOld:
		return "signature is too old"
	case TooNew:
		return "signature is from the future"
	}
	return "notice refused"
}

// Verifier judges the provider's notices by their raw bytes. The zero value
// accepts none.
type Verifier struct {
	secrets   [][]byte
	tolerance time.Duration
}

// NewVerifier refuses what would let a stranger in, or everybody out: no
// secret, an empty one, one with space around it (a file read with its line
// end), a tolerance that is not positive. Several secrets are all valid: that
// is how they rotate.
func NewVerifier(secrets []string, tolerance time.Duration) (*Verifier, error) {
	if len(secrets) == 0 {
		return nil, errors.New("stripe: no webhook secret is set")
	}
	if tolerance < time.Second {
		return nil, fmt.Errorf("stripe: a signature tolerance of %v is no tolerance", tolerance)
	}
	v := &Verifier{tolerance: tolerance}
	for i, secret := range secrets {
		if strings.TrimSpace(secret) == "" {
			return nil, fmt.Errorf("stripe: webhook secret %d of %d is empty", i+1, len(secrets))
		}
		if strings.TrimSpace(secret) != secret {
			return nil, fmt.Errorf("stripe: webhook secret %d of %d has space around it", i+1, len(secrets))
		}
		v.secrets = append(v.secrets, []byte(secret))
	}
	return v, nil
}

// Verify is nil when a secret signed body no further than the tolerance from
// now, and a Reason otherwise. Every signature is compared with every secret,
// in constant time: how long it takes tells neither which came close nor which
// secret is in use.
func (v *Verifier) Verify(body []byte, header string, now time.Time) error {
	stamp, signatures, err := parseHeader(header)
	if err != nil {
		return err
	}
	matched := 0
	for _, secret := range v.secrets {
		want := sign(secret, stamp, body)
		for _, got := range signatures {
			matched |= subtle.ConstantTimeCompare(want, got)
		}
	}
	if matched == 0 {
		return Mismatch
	}
	return v.inTime(stamp, now)
}

func (v *Verifier) inTime(stamp string, now time.Time) error {
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return Malformed
	}
	switch age := now.Sub(time.Unix(seconds, 0)); {
	case age > v.tolerance:
		return TooOld
	case age < -v.tolerance:
		return TooNew
	}
	return nil
}

func sign(secret []byte, stamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(stamp))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return mac.Sum(nil)
}

// parseHeader reads "t=1700000000,v1=hex,v1=hex,v0=…". The stamp stays the
// text that was signed. Other schemes are passed over, a v1 that is no SHA-256
// in hex matches nothing.
func parseHeader(header string) (stamp string, signatures [][]byte, err error) {
	if header == "" {
		return "", nil, NoSignature
	}
	for part := range strings.SplitSeq(header, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch {
		case key == "t" && stamp == "" && isStamp(value):
			stamp = value
		case key == "t": // a second one, or no number: which was signed?
			return "", nil, Malformed
		case key == "v1" && len(signatures) == maxSignatures:
			return "", nil, Malformed
		case key == "v1":
			if sum, err := hex.DecodeString(value); err == nil && len(sum) == sha256.Size {
				signatures = append(signatures, sum)
			}
		}
	}
	switch {
	case stamp == "":
		return "", nil, Malformed
	case len(signatures) == 0:
		return "", nil, NoSignature
	}
	return stamp, signatures, nil
}

// isStamp holds for Unix seconds in digits, up to the year 33658.
func isStamp(s string) bool {
	return len(s) >= 1 && len(s) <= 12 && strings.Trim(s, "0123456789") == ""
}
