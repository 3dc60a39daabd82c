package daemon

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/account"
	"waitroom/internal/httpapi"
	"waitroom/internal/inventory"
	"waitroom/internal/process"
)

// Identity are the settings of what events may ask of who joins.
type Identity struct {
	AccountIssuer   string   `env:"ACCOUNT_ISSUER" help:"iss of the tokens of the organiser's sign-in, for events with accounts: required. Without ACCOUNT_KEYS also the https address at which it is discovered (OpenID Connect). Empty: such events let nobody join."`
	AccountAudience string   `env:"ACCOUNT_AUDIENCE" help:"aud of these tokens: this installation. A token for anybody else is refused."`
	AccountKeys     string   `env:"ACCOUNT_KEYS" secret:"" help:"Their public keys, as a JWKS. Empty: the issuer's, fetched when they are needed; while they cannot be had, joins are asked to come again."`
	AccountAlgs     []string `env:"ACCOUNT_ALGORITHMS" sep:"," default:"RS256,ES256" help:"Signatures that are taken, whatever a token says."`
	AccountSecret   string   `env:"ACCOUNT_SECRET" secret:"" help:"At least 32 characters of chance. Makes holders of accounts, so that passes and tables say nothing of whose they are. Changed in the middle of a sale, everybody is somebody else and may join again."`
	AccountCookie   string   `env:"ACCOUNT_COOKIE" help:"The cookie of this host in which pages find the token. Empty: people with accounts join by the API alone."`
	SignIn          string   `env:"ACCOUNT_SIGN_IN" help:"Where pages send people to sign in."`

	SuspectHeader   string `env:"SUSPECT_HEADER" help:"The edge's mark on suspicious requests: anything but nothing and 0. Who joins or comes to the door so marked is asked for a challenge; no place is ever lost by it."`
	SuspectHook     string `env:"SUSPECT_HOOK" secret:"" help:"URL that is asked whether who joins or comes to the door is suspicious. While it does not answer, nobody is."`
	ChallengeURL    string `env:"CHALLENGE_URL" help:"Where a challenge is solved, on this same host. It sends its answer as challenge to /e/EVENT/join, or gives it to the client."`
	ChallengeVerify string `env:"CHALLENGE_VERIFY" help:"URL that checks answers, as Turnstile's, hCaptcha's and reCAPTCHA's siteverify. While it does not answer, all come through; an answer that it refuses (4xx) is none."`
	ChallengeSecret string `env:"CHALLENGE_SECRET" secret:"" help:"Our secret there."`

	ChallengeMost int `env:"CHALLENGE_ANSWER_MOST" default:"4096" help:"Bytes of an answer that are looked at. Longer ones are refused before anybody is asked: too low, and people who solved a challenge cannot come in."`

	SuspectLimit time.Duration `env:"SUSPECT_LIMIT" default:"500ms" help:"How long the hook, and who checks answers, may take. Longer: people wait for it at the door. Then they come through."`
}

func (c Identity) validate() error {
	accounts := c.AccountIssuer != "" || c.AccountAudience != "" || c.AccountKeys != "" || c.AccountSecret != ""
	suspects := c.SuspectHeader != "" || c.SuspectHook != ""
	var wrong error
	if accounts {
		_, wrong = account.New(c.account())
	}
	return errors.Join(
		process.Want(wrong == nil, "ACCOUNT_ISSUER and what goes with it: %w", wrong),
		process.Want(c.SignIn == "" || address(c.SignIn, true), "ACCOUNT_SIGN_IN %q: want http(s)://host/path, or /path", c.SignIn),
		process.Want(c.SuspectLimit >= 0 && c.SuspectLimit <= 2*time.Second, "SUSPECT_LIMIT %s: want up to 2s", c.SuspectLimit),
		process.Want(c.ChallengeMost >= 0 && c.ChallengeMost <= 32<<10, "CHALLENGE_ANSWER_MOST %d: want up to 32768", c.ChallengeMost),
		process.Want(c.SuspectHook == "" || address(c.SuspectHook, false), "SUSPECT_HOOK: want http(s)://host/path"),
		process.Want(!suspects || address(c.ChallengeURL, true), "CHALLENGE_URL %q: who is suspected needs one, http(s)://host/path or /path", c.ChallengeURL),
		process.Want(!suspects || address(c.ChallengeVerify, false) && c.ChallengeSecret != "", "CHALLENGE_VERIFY, CHALLENGE_SECRET: who is suspected needs them, or nobody could prove anything"),
	)
}

// address says whether a text is a web address, or one on this host.
func address(s string, here bool) bool {
	u, err := url.Parse(s)
	if err != nil || s == "" {
		return false
	}
	return here && u.Scheme == "" && u.Host == "" && u.Path != "" && u.Path[0] == '/' ||
		u.Host != "" && slices.Contains([]string{"http", "https"}, u.Scheme)
}

func (c Identity) account() account.Config {
	return account.Config{
		Issuer: c.AccountIssuer, Audience: c.AccountAudience, Keys: []byte(c.AccountKeys),
		Algorithms: c.AccountAlgs, Secret: []byte(c.AccountSecret),
	}
}

// identity puts together who asks what of whom. An issuer that is away keeps
// nothing from starting: its events' joins wait.
func (c WaitroomConfig) identity(ctx context.Context, p *process.Process, reads *pgxpool.Pool) (i httpapi.Identity, err error) {
	i = httpapi.Identity{
		AccountCookie: c.AccountCookie, SignIn: c.SignIn,
		Codes: func(ctx context.Context, event string, hash [32]byte) (int64, error) {
			return inventory.CodeUses(ctx, reads, event, hash)
		},
	}
	i.Count(p.Metrics)
	if c.AccountIssuer != "" {
		if i.Accounts, err = account.New(c.account()); err != nil {
			return i, err
		}
		if err := i.Accounts.Ready(ctx); err != nil {
			p.Log.Warn("the issuer of accounts does not answer yet", "error", err)
		}
	}
	proxies, err := httpapi.ParseProxies(c.TrustedProxies)
	if err != nil {
		return i, err
	}
	i.Suspicion = httpapi.NewSuspicion(httpapi.SuspicionConfig{
		Header: c.SuspectHeader, Hook: c.SuspectHook, ChallengeURL: c.ChallengeURL,
		Verify: c.ChallengeVerify, Secret: c.ChallengeSecret, AnswerMost: c.ChallengeMost, Limit: c.SuspectLimit, Proxies: proxies,
	}, p.Metrics, p.Log)
	p.OnClose("suspicion", func(context.Context) error { i.Suspicion.Close(); return nil })
	return i, nil
}
