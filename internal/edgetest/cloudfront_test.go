package edgetest

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// distribution is infra/cloudfront, as far as it says who is served what.
type distribution struct {
	Resources map[string]struct {
		Type       string `yaml:"Type"`
		Properties struct {
			FunctionCode      string `yaml:"FunctionCode"`
			CachePolicyConfig struct {
				MinTTL     int `yaml:"MinTTL"`
				DefaultTTL int `yaml:"DefaultTTL"`
				MaxTTL     int `yaml:"MaxTTL"`
				Key        struct {
					Cookies struct {
						Are string `yaml:"CookieBehavior"`
					} `yaml:"CookiesConfig"`
					Headers struct {
						Are string `yaml:"HeaderBehavior"`
					} `yaml:"HeadersConfig"`
					Queries struct {
						Are  string   `yaml:"QueryStringBehavior"`
						Some []string `yaml:"QueryStrings"`
					} `yaml:"QueryStringsConfig"`
				} `yaml:"ParametersInCacheKeyAndForwardedToOrigin"`
			} `yaml:"CachePolicyConfig"`
			ResponseHeadersPolicyConfig struct {
				Remove struct {
					Items []struct {
						Header string `yaml:"Header"`
					} `yaml:"Items"`
				} `yaml:"RemoveHeadersConfig"`
			} `yaml:"ResponseHeadersPolicyConfig"`
			Config struct {
				Behaviors []behavior `yaml:"CacheBehaviors"`
				Default   behavior   `yaml:"DefaultCacheBehavior"`
				Errors    []struct {
					Code int `yaml:"ErrorCode"`
					TTL  int `yaml:"ErrorCachingMinTTL"`
				} `yaml:"CustomErrorResponses"`
			} `yaml:"DistributionConfig"`
		} `yaml:"Properties"`
	} `yaml:"Resources"`
}

// ref names another resource.
type ref struct {
	Ref string `yaml:"Ref"`
}

type behavior struct {
	Path    string   `yaml:"PathPattern"`
	Origin  string   `yaml:"TargetOriginId"`
	Methods []string `yaml:"AllowedMethods"`
	Cache   ref      `yaml:"CachePolicyId"`
	Told    *ref     `yaml:"OriginRequestPolicyId"`
	Answer  ref      `yaml:"ResponseHeadersPolicyId"`
	Runs    []any    `yaml:"FunctionAssociations"`
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// of is the behaviour that CloudFront takes for a path: the first that matches,
// where a star is any letters, slashes too.
func (d distribution) of(path string) behavior {
	c := d.Resources["Distribution"].Properties.Config
	for _, b := range c.Behaviors {
		pattern := strings.ReplaceAll(strings.ReplaceAll(regexp.QuoteMeta(b.Path), `\*`, ".*"), `\?`, ".")
		if regexp.MustCompile("^" + pattern + "$").MatchString(path) {
			return b
		}
	}
	return c.Default
}

// Of all that the waitroom serves in public, by its own contract and to people,
// what is the same for everyone is kept, by its path alone, and all else is not.
func TestCloudFrontKeepsWhatIsEverybodysAndNothingElse(t *testing.T) {
	var d distribution
	readYAML(t, "../../infra/cloudfront/distribution.yaml", &d)
	var contract struct {
		Paths map[string]map[string]struct{ Tags []string }
	}
	readYAML(t, "../../api/openapi.yaml", &contract)
	kept := map[string][]string{
		"/": {"GET"}, "/e/gala": {"GET"}, "/e/gala/draw": {"GET"}, "/assets/0a1b/page.js": {"GET"}, "/.well-known/jwks.json": {"GET"},
	}
	own := map[string][]string{
		"/e/gala/place": {"GET"}, "/e/gala/seats": {"GET"}, "/e/gala/orders/7": {"GET"}, "/e/gala/join": {"POST"}, "/e/gala/claim": {"POST"},
		"/e/gala/orders/7/cancel": {"POST"}, "/e/gala/shop/x": {"GET", "POST"}, "/v2/anything": {"GET", "PUT"}, "/v1/events/public": {"GET"}, "/E/gala": {"GET"},
	}
	for path, methods := range contract.Paths {
		for method, operation := range methods {
			one := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "x1")
			if slices.Contains(operation.Tags, "public") || strings.HasPrefix(path, "/v1/public/") || path == "/.well-known/jwks.json" {
				kept[one] = append(kept[one], strings.ToUpper(method))
			} else {
				own[one] = append(own[one], strings.ToUpper(method))
			}
		}
	}
	if len(kept) < 9 || len(own) < 25 {
		t.Fatalf("%d paths to keep and %d others: that is not the contract", len(kept), len(own))
	}
	for path := range kept {
		b := d.of(path)
		policy := d.Resources[b.Cache.Ref].Properties.CachePolicyConfig
		queries := "none"
		if strings.HasSuffix(path, "/availability") {
			queries = "whitelist"
		}
		if k := policy.Key; policy.MaxTTL < 60 || policy.MinTTL != 0 || k.Cookies.Are != "none" || k.Headers.Are != "none" || k.Queries.Are != queries || len(k.Queries.Some) > 1 {
			t.Errorf("%s is kept by %s: %+v", path, b.Cache.Ref, policy)
		}
		if b.Told != nil {
			t.Errorf("%s: the origin is told of who asks, by %s", path, b.Told.Ref)
		}
		if queries == "whitelist" && (len(b.Runs) != 1 || !slices.Equal(policy.Key.Queries.Some, []string{"since"})) {
			t.Errorf("%s: what is no cursor passes", path)
		}
		remove := d.Resources[b.Answer.Ref].Properties.ResponseHeadersPolicyConfig.Remove.Items
		if len(remove) != 1 || remove[0].Header != "Set-Cookie" {
			t.Errorf("%s: a cookie passes", path)
		}
		if !slices.Equal(b.Methods, []string{"GET", "HEAD"}) {
			t.Errorf("%s takes %v", path, b.Methods)
		}
	}
	for path, methods := range own {
		b := d.of(path)
		policy := d.Resources[b.Cache.Ref].Properties.CachePolicyConfig
		if policy.MaxTTL != 0 || policy.DefaultTTL != 0 || d.Resources[b.Cache.Ref].Type != "AWS::CloudFront::CachePolicy" {
			t.Errorf("%s may be kept, by %s: %+v", path, b.Cache.Ref, policy)
		}
		if b.Told == nil {
			t.Errorf("%s: the origin is not told who asks", path)
		}
		for _, method := range methods {
			if !slices.Contains(b.Methods, method) {
				t.Errorf("%s does not take %s", path, method)
			}
		}
		pay := strings.HasSuffix(path, "/payments") || path == "/v1/provider/notices"
		if pay != (b.Origin == "pay") {
			t.Errorf("%s goes to %s", path, b.Origin)
		}
	}
	for _, e := range d.Resources["Distribution"].Properties.Config.Errors {
		if e.TTL != 0 {
			t.Errorf("a refusal with %d is everybody's for %d s", e.Code, e.TTL)
		}
	}
	t.Logf("%d shared paths, %d of somebody's own", len(kept), len(own))
}

// The function at CloudFront's edge lets a cursor through and nothing else.
func TestCloudFrontsCursors(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node to run CloudFront's function with")
	}
	var d distribution
	readYAML(t, "../../infra/cloudfront/distribution.yaml", &d)
	code := d.Resources["Cursors"].Properties.FunctionCode
	for asked, want := range map[string]string{
		`{}`:                        `{}`,
		`{"since":{"value":"0af"}}`: `{"since":{"value":"0af"}}`,
		`{"since":{"value":"0af"},"x":{"value":"1"}}`: `{"since":{"value":"0af"}}`,
		`{"since":{"value":"0AF"}}`:                   `{}`,
		`{"since":{"value":"0af0"}}`:                  `{}`,
		`{"since":{"value":""}}`:                      `{}`,
		`{"x":{"value":"0af"}}`:                       `{}`,
		`{"since":{"value":"0af","multiValue":[{"value":"0af"},{"value":"111"}]}}`: `{}`,
	} {
		run := exec.CommandContext(t.Context(), node, "-e", code+`;console.log(JSON.stringify(handler({request: {uri: "/a", querystring: `+asked+`}})))`)
		out, err := run.Output()
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			URI         string
			Querystring json.RawMessage
		}
		if err := json.Unmarshal(out, &got); err != nil || got.URI != "/a" || string(got.Querystring) != want {
			t.Errorf("%s becomes %s, want %s (%v)", asked, out, want, err)
		}
	}
}
