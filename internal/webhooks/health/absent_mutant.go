//go:build mutant_health_defaults

package health

// absent goes on with what is usual.
func absent(key string) (int64, bool) {
	return map[string]int64{
		"WEBHOOK_BACKOFF_FACTOR": 2, "WEBHOOK_ADMIT_SLACK_S": 5, "WEBHOOK_DEAD_LETTER_AFTER": 3,
		"WEBHOOK_SUCCESS_MIN": 200, "WEBHOOK_SUCCESS_MAX": 299,
	}[key], true
}
