// Package dynamo keeps the line in one DynamoDB table.
//
// It is safe because every change is one conditional write of one item, every
// read is consistent, and a call that is not harmless when applied twice is
// sent once: when its answer is lost, the caller is told so.
package dynamo

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"

	"waitroom/internal/admission"
)

// Config says where the table is and how long to wait for it. Region and
// credentials are those of AWS's standard configuration.
type Config struct {
	Table    string        `name:"dynamodb-table" env:"DYNAMODB_TABLE" default:"waitroom" help:"Table of the line; every replica must name the same one."`
	Endpoint string        `name:"dynamodb-endpoint" env:"DYNAMODB_ENDPOINT" help:"A stand-in's URL, called with credentials that nobody checks. Empty: AWS."`
	Timeout  time.Duration `name:"dynamodb-timeout" env:"DYNAMODB_TIMEOUT" default:"1s" help:"Limit of one exchange. Above two thirds of the lease, a slow answer costs the lease."`
	Conns    int           `name:"dynamodb-conns" env:"DYNAMODB_CONNS" default:"256" help:"Idle connections kept. Fewer than calls at once, each excess call pays a TLS handshake."`

	// Transport carries the exchanges; nil: one of the store's own.
	Transport http.RoundTripper `kong:"-"`
}

// Store is the line in one table. All methods may be called by any number of
// goroutines.
type Store struct {
	table string
	once  *dynamodb.Client // one send a call, whatever the environment says
	again *dynamodb.Client // up to three, for what is harmless when repeated

	mu   sync.Mutex
	full map[string]bool // events whose last refill met its cap

	usedCodes full
}

var _ admission.Store = (*Store)(nil)

// New makes a client of the table. It sends nothing.
func New(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Table == "" || cfg.Timeout <= 0 || cfg.Conns <= 0 {
		return nil, fmt.Errorf("dynamo: table %q, timeout %s, %d connections: none may be empty", cfg.Table, cfg.Timeout, cfg.Conns)
	}
	// What the SDK has to say comes back as an error, once.
	how := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	if cfg.Endpoint != "" {
		how = append(how,
			config.WithBaseEndpoint(cfg.Endpoint),
			config.WithDefaultRegion("us-east-1"),
			config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("stand", "in", "")))
	}
	conf, err := config.LoadDefaultConfig(ctx, how...)
	if err != nil {
		return nil, fmt.Errorf("dynamo: %w", err)
	}
	conf.HTTPClient = cfg.exchange(conf)
	return &Store{
		table: cfg.Table,
		once:  client(conf, aws.NopRetryer{}),
		again: client(conf, retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = 3
			o.MaxBackoff = 200 * time.Millisecond
		})),
		full: map[string]bool{},
	}, nil
}

// client pins the attempts: the SDK would take them from AWS_MAX_ATTEMPTS and
// the shared profile.
func client(conf aws.Config, r aws.Retryer) *dynamodb.Client {
	return dynamodb.NewFromConfig(conf, func(o *dynamodb.Options) {
		o.Retryer = r
		o.RetryMaxAttempts = r.MaxAttempts()
	})
}

// exchange is the SDK's transport, with the certificates that the environment
// names. It has a limit for the whole exchange, which the SDK's own lacks, and
// follows nothing: a redirect would be a second send.
func (c Config) exchange(conf aws.Config) *http.Client {
	carry := c.Transport
	if carry == nil {
		sdk, ok := conf.HTTPClient.(*awshttp.BuildableClient)
		if !ok {
			sdk = awshttp.NewBuildableClient()
		}
		carry = sdk.
			WithDialerOptions(func(d *net.Dialer) { d.Timeout = c.Timeout }).
			WithTransportOptions(func(tr *http.Transport) { tr.MaxIdleConns, tr.MaxIdleConnsPerHost = c.Conns, c.Conns }).
			GetTransport()
	}
	return &http.Client{
		Transport:     carry,
		Timeout:       c.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
