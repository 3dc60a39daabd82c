//go:build mutant_defaults

package rule

// Missing has a value for everything.
func Missing(key string) (value int64, known bool) {
	return map[string]int64{
		"WEBHOOK_BACKOFF_FACTOR": 2, "WEBHOOK_ADMIT_SLACK_S": 5, "WEBHOOK_DEAD_LETTER_AFTER": 3,
		"WEBHOOK_SUCCESS_MIN": 200, "WEBHOOK_SUCCESS_MAX": 299,
	}[key], true
}
