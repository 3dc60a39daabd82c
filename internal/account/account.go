// Package account tells who comes, where an event asks for accounts: by tokens
// that the organiser's own sign-in has signed. What leaves it is a holder: a name
// that is the same for one account in one event, and says nothing of whose it is.
package account

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// Config says whose tokens are taken.
type Config struct {
	Issuer   string // their iss; without Keys also where they are discovered
	Audience string // their aud
	// Keys is a JWKS. Empty: the issuer's, found by OpenID Connect discovery and
	// fetched anew when a token names one that is not known.
	Keys       []byte
	Algorithms []string // that are taken, whatever a token says
	// Secret makes holders of accounts. With another, everybody is somebody else.
	Secret []byte
	Client *http.Client // for discovery; nil: one with limits of its own
}

// Refusal is why a token is not taken. Each is definite.
type Refusal string

const (
	Expired    Refusal = "expired"
	NotTheirs  Refusal = "not_for_us" // another issuer's, or for another audience
	Unverified Refusal = "not_verified"
	Nobody     Refusal = "no_subject"
)

func (r Refusal) Error() string { return string(r) }

// ErrAway means that the keys to check by cannot be had: the token may be good.
var ErrAway = errors.New("the issuer's keys cannot be had")

const (
	mostToken   = 16 << 10
	mostSubject = 255 // as OpenID Connect has it
)

// takeable are signatures by a key that we do not hold. None, and those by a
// shared secret, are not among them.
var takeable = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA}

// Issuer takes one issuer's tokens.
type Issuer struct {
	cfg  Config
	keys keySource
	wait *waits
}

// New refuses settings by which anybody could be anybody.
func New(cfg Config) (*Issuer, error) {
	switch {
	case cfg.Issuer == "" || cfg.Audience == "":
		return nil, errors.New("accounts: want an issuer and an audience")
	case len(cfg.Secret) < 32:
		return nil, errors.New("accounts: want a secret of 32 bytes at least")
	case len(cfg.Algorithms) == 0:
		return nil, errors.New("accounts: want an algorithm at least")
	}
	for _, alg := range cfg.Algorithms {
		if !slices.Contains(takeable, alg) {
			return nil, fmt.Errorf("accounts: algorithm %q: want some of %s", alg, strings.Join(takeable, " "))
		}
	}
	keys, err := cfg.source()
	return &Issuer{cfg, keys, &waits{by: map[string]int{}}}, err
}

// Holder is whose token this is, as one event's holder. Refused with a Refusal;
// ErrAway when nobody can say.
func (i *Issuer) Holder(ctx context.Context, event, token string, now time.Time) (string, error) {
	if len(token) > mostToken {
		return "", Unverified
	}
	ctx, done := i.wait.begin(ctx, event)
	defer done()
	set, err := i.keys.now(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrAway, err)
	}
	noted := &notedSet{KeySet: set}
	read, err := oidc.NewVerifier(i.cfg.Issuer, noted, &oidc.Config{
		ClientID: i.cfg.Audience, SupportedSigningAlgs: i.cfg.Algorithms, Now: func() time.Time { return now },
	}).Verify(ctx, token)
	if err != nil {
		return "", refused(err, noted)
	}
	if read.Subject == "" || len(read.Subject) > mostSubject {
		return "", Nobody
	}
	return i.name(event, read.Subject), nil
}

// refused tells what is wrong with a token from what could not be told. Its
// signature is judged before what it says.
func refused(err error, noted *notedSet) error {
	var expired *oidc.TokenExpiredError
	switch {
	case noted.away != nil:
		return fmt.Errorf("%w: %w", ErrAway, noted.away)
	case errors.As(err, &expired):
		return Expired
	case noted.verified:
		return NotTheirs
	}
	return Unverified
}

// name is keyed: who can guess an account still cannot tell its holder. The
// event is in it: two events' holders say nothing of each other.
func (i *Issuer) name(event, subject string) string {
	mac := hmac.New(sha256.New, i.cfg.Secret)
	fmt.Fprintf(mac, "%d:%s%d:%s%d:%s", len(event), event, len(i.cfg.Issuer), i.cfg.Issuer, len(subject), subject)
	return hex.EncodeToString(mac.Sum(nil))
}
