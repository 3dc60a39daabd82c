package daemon_test

import (
	"encoding/base64"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"waitroom/internal/admission"
	"waitroom/internal/daemon"
	"waitroom/internal/process"
)

// settings reads a process's settings from its environment alone.
func settings(t *testing.T, cfg any, env map[string]string) error {
	t.Helper()
	for k, v := range env {
		t.Setenv(k, v)
	}
	k, err := kong.New(cfg, process.Settings(), kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = k.Parse(nil)
	return err
}

func wantNamed(t *testing.T, err error, names ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("it starts, want it to name %s", strings.Join(names, ", "))
	}
	for _, name := range names {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %s", err, name)
		}
	}
}

// Who starts a process for the first time hears at once of every setting that it
// misses, by the name to set it by.
func TestEveryMissingSettingIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		cfg   any
		names []string
	}{
		"waitroom":    {&daemon.WaitroomConfig{}, []string{"ADMIN_TOKEN", "DATABASE_URL", "NATS_URL", "PASS_KEYS", "TICKET_KEYS"}},
		"paycallback": {&daemon.PayCallbackConfig{}, []string{"DATABASE_URL", "INSTALL", "PASS_KEYS", "PROVIDER_KEY", "PROVIDER_METHOD", "PROVIDER_WEBHOOK_SECRETS", "RETURN_URL", "TICKET_KEYS"}},
		"claimer":     {&daemon.ClaimerConfig{}, []string{"DATABASE_URL", "NATS_URL"}},
		"expirer":     {&daemon.ExpirerConfig{}, []string{"DATABASE_URL", "NATS_URL"}},
		"refunder":    {&daemon.RefunderConfig{}, []string{"DATABASE_URL", "PROVIDER_KEY"}},
		"courier":     {&daemon.CourierConfig{}, []string{"DATABASE_URL"}},
	} {
		t.Run(name, func(t *testing.T) { wantNamed(t, settings(t, c.cfg, nil), c.names...) })
	}
}

// Every senseless setting is told at once, by its name.
func TestEverySenselessSettingIsNamed(t *testing.T) {
	passes, err := admission.NewPassKey()
	if err != nil {
		t.Fatal(err)
	}
	good := map[string]string{
		"DATABASE_URL": "postgres://x", "NATS_URL": "nats://x", "PASS_KEYS": string(passes),
		"TICKET_KEYS": "k1:" + base64.StdEncoding.EncodeToString([]byte("thirty-two bytes of something...")), "ADMIN_TOKEN": "sixteen letters.",
		"INSTALL": "here", "PROVIDER_KEY": "sk_test", "PROVIDER_METHOD": "ideal",
		"PROVIDER_WEBHOOK_SECRETS": "whsec_new,whsec_old", "RETURN_URL": "http://127.0.0.1/{order}",
	}
	var pay daemon.PayCallbackConfig
	if err := settings(t, &pay, good); err != nil {
		t.Errorf("paycallback: %v", err)
	}
	if len(pay.WebhookSecrets) != 2 {
		t.Errorf("%d webhook secrets, want 2", len(pay.WebhookSecrets))
	}
	if err := settings(t, &daemon.RefunderConfig{}, good); err != nil {
		t.Errorf("refunder: %v", err)
	}
	if err := settings(t, &daemon.CourierConfig{}, good); err != nil {
		t.Errorf("courier: %v", err)
	}
	if err := settings(t, &daemon.WaitroomConfig{}, good); err != nil {
		t.Errorf("waitroom: %v", err)
	}
	senseless := map[string]string{
		"HOLD": "1m", "LEASE": "1ms", "READ_CONNS": "1", "REPLICAS": "0", "HTTP_CONNS": "0", "REPLICA": "one\ntwo", "DYNAMODB_ENDPOINT": "foo",
		"ADMIN_TOKEN": "short", "PAY_URL": "localhost", "PAY_ORIGINS": "*", "JOINS_PER_NETWORK": "-1", "TRUSTED_PROXIES": "here", "ENDPOINTS_MOST": "0",
		"TICKET_KEYS": "k1:" + base64.StdEncoding.EncodeToString(make([]byte, 32)), "PASS_KEYS": "none", "SEAT_CODE_KEYS": "none", "DRAIN_LIMIT": "0s",
		"INSTALL": " ", "PROVIDER_URL": "foo", "PROVIDER_METHOD": " ", "PROVIDER_WEBHOOK_SECRETS": "whsec_new,", "RETURN_URL": "foo",
		"PROVIDER_TOLERANCE": "2h", "PROVIDER_CALL_LIMIT": "0s", "PROVIDER_CALLS_IN_FLIGHT": "0", "NOTICE_CONNS": "0",
		"PROVIDER_ACCOUNT_RATE": "0", "PROVIDER_RATE": "5", "PROVIDER_SWEEP_RATE": "5",
		"EXPIRE_EVERY": "2m", "EXPIRE_BATCH": "0",
		"COURIER_EVERY": "0s", "COURIER_SENDS_IN_FLIGHT": "0", "COURIER_FAILING_SHARE": "0", "COURIER_SEND_LIMIT": "2m", "COURIER_LEASE": "3m", "COURIER_CONNS": "1",
		"WEBHOOK_BACKOFF_FACTOR": "0", "WEBHOOK_ADMIT_SLACK_S": "-1", "WEBHOOK_SUCCESS_MIN": "199", "WEBHOOK_SUCCESS_MAX": "302", "WEBHOOK_JITTER": "-0.1",
		"WEBHOOK_DISABLE_AFTER": "0", "WEBHOOK_DISABLE_FAILING_FOR": "-1s", "WEBHOOK_WAIT_AT_MOST": "0s",
		"REFUND_CALLS_APART": "100ms", "REFUND_CALLS_IN_FLIGHT": "11", "REFUND_CALL_LIMIT": "1ms", "REFUND_ON_ITS_WAY_FOR": "1m", "REFUND_LOOK_LATE_AFTER": "1m", "REFUND_CONNS": "1",
	}
	common := []string{"TICKET_KEYS", "PASS_KEYS", "DRAIN_LIMIT"}
	wantNamed(t, settings(t, &daemon.WaitroomConfig{}, senseless), append(common,
		"SEAT_CODE_KEYS", "HOLD", "LEASE", "READ_CONNS", "HTTP_CONNS", "REPLICA", "DYNAMODB_ENDPOINT", "ADMIN_TOKEN", "PAY_URL", "PAY_ORIGINS", "JOINS_PER_NETWORK", "TRUSTED_PROXIES", "ENDPOINTS_MOST")...)
	wantNamed(t, settings(t, &daemon.PayCallbackConfig{}, senseless), append(common,
		"INSTALL", "PROVIDER_URL", "PROVIDER_METHOD", "PROVIDER_WEBHOOK_SECRETS", "RETURN_URL", "PROVIDER_TOLERANCE", "PROVIDER_CALL_LIMIT", "PROVIDER_CALLS_IN_FLIGHT", "NOTICE_CONNS", "PROVIDER_ACCOUNT_RATE", "PROVIDER_RATE", "PROVIDER_SWEEP_RATE")...)
	wantNamed(t, settings(t, &daemon.RefunderConfig{}, senseless), "PROVIDER_URL", "REFUND_CALLS_APART", "REFUND_CALLS_IN_FLIGHT", "REFUND_CALL_LIMIT", "REFUND_ON_ITS_WAY_FOR", "REFUND_LOOK_LATE_AFTER", "REFUND_CONNS", "DRAIN_LIMIT")
	wantNamed(t, settings(t, &daemon.CourierConfig{}, senseless), "COURIER_EVERY", "COURIER_SENDS_IN_FLIGHT", "COURIER_FAILING_SHARE", "COURIER_SEND_LIMIT", "COURIER_LEASE", "COURIER_CONNS",
		"WEBHOOK_BACKOFF_FACTOR", "WEBHOOK_ADMIT_SLACK_S", "WEBHOOK_SUCCESS_MIN", "WEBHOOK_SUCCESS_MAX", "WEBHOOK_JITTER", "WEBHOOK_DISABLE_AFTER", "WEBHOOK_DISABLE_FAILING_FOR", "WEBHOOK_WAIT_AT_MOST", "DRAIN_LIMIT")
	wantNamed(t, settings(t, &daemon.ExpirerConfig{}, senseless), "EXPIRE_EVERY", "EXPIRE_BATCH", "DRAIN_LIMIT")
}

// Whoever sets an endpoint up at the provider reads in the help which notices it has
// to send: each kind that changes something is named there, and where the page is.
func TestTheHelpNamesTheNoticesToSubscribeTo(t *testing.T) {
	field, ok := reflect.TypeFor[daemon.PayCallbackConfig]().FieldByName("WebhookSecrets")
	page, err := os.ReadFile("../../docs/REFUNDS.md")
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	source, err := os.ReadFile("../stripe/notice.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(source), "func meaning(")
	table, _, _ = strings.Cut(table, "\n}\n")
	kinds := regexp.MustCompile(`"([a-z_]+\.[a-z_.]+)"`).FindAllStringSubmatch(table, -1)
	if len(kinds) < 8 {
		t.Fatalf("the table has %d kinds", len(kinds))
	}
	for _, k := range kinds {
		if !strings.Contains(field.Tag.Get("help"), k[1]) || !strings.Contains(string(page), "`"+k[1]+"`") {
			t.Errorf("%s is not in paycallback's help, or not in docs/REFUNDS.md", k[1])
		}
	}
}
