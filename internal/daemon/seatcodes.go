package daemon

import (
	"errors"

	"waitroom/internal/process"
	"waitroom/internal/ticket"
)

// SeatCodes are the settings of the codes that open an event's door.
type SeatCodes struct {
	SeatCodeKeys string `env:"SEAT_CODE_KEYS" secret:"" help:"Ed25519 keys of sold seats' codes as PEM; the first private one signs. All replicas need the same; a key stays, or its public half, until the doors of the last event are closed that sold while it signed. Empty: orders show no codes and nothing can be scanned, until it is set; then also what was sold before has codes."`
}

// keys are nil where there are none yet.
func (c SeatCodes) keys() (*ticket.Keys, error) {
	if c.SeatCodeKeys == "" {
		return nil, nil
	}
	keys, err := ticket.ParseKeys([]byte(c.SeatCodeKeys))
	if err == nil && !keys.CanSign() {
		err = errors.New("there is no private key: codes could not be signed")
	}
	return keys, err
}

func (c SeatCodes) validate() error {
	_, err := c.keys()
	return process.Want(err == nil, "SEAT_CODE_KEYS: %w", err)
}
