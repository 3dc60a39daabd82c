// Package ordersmodel is a sale small enough to be looked at whole: two seats, two
// buyers, up to three orders and two payments of each, and every order in which claims, ends,
// money and its way back can happen, with a crash wherever one can be. What holds in
// all of its states is what the statements of inventory, orders and refunds are written
// to keep; that they do what the model does is shown by playing its walks on them.
package ordersmodel

// The most that a sale has.
const (
	Seats    = 2
	Buyers   = 2
	Orders   = 3
	Payments = 2 // of an order
)

// Status is an order's.
type Status uint8

// What an order can be.
const (
	None Status = iota // there is none yet
	Pending
	Paid
	Expired
	Cancelled
)

// Standing is where captured money was put.
type Standing uint8

// Where money can stand.
const (
	Uncounted Standing = iota
	OnOrder
	ToRefund
)

// Operation is a refund's state.
type Operation uint8

// What a refund operation can be.
const (
	NoOperation Operation = iota
	Owed                  // nothing was sent, or a look found nothing of it
	Sending               // its start is written down; the call may be anywhere
	Unknown               // whoever sent it is dead
	Confirmed
)

// Payment is one try to pay an order, as the provider and as we have it.
type Payment struct {
	Open     bool // the provider would take money
	Captured bool // the provider took it, and tells so as often as it likes
	Stands   Standing
	Refund   Operation
	Flying   bool  // a call to refund it is on its way, whoever lives
	Refunded uint8 // times that the provider gave it back
}

// Order is a buyer's.
type Order struct {
	Buyer    uint8
	Status   Status
	Wants    uint8 // its seats, as bits
	Known    bool  // the answer came to its buyer
	Lapsed   bool  // its time to pay is over
	PaidBy   uint8 // which payment, from 1; 0: none
	Payments [Payments]Payment
}

func (o Order) live() bool { return o.Status == Pending || o.Status == Paid }

// State is all there is. It is compared, and is a map's key.
type State struct {
	Seat     [Seats]uint8 // whose it is: an order, from 1; 0: free
	Order    [Orders]Order
	Returned [Orders]uint8 // seats of the return rows, as bits
	Listed   uint8         // the orders, as bits, that the expirer has read to be over
}

func (s State) free(seats uint8) bool {
	for i, of := range s.Seat {
		if seats&(1<<i) != 0 && of != 0 {
			return false
		}
	}
	return true
}

func (s *State) take(order int) {
	for i := range s.Seat {
		if s.Order[order].Wants&(1<<i) != 0 {
			s.Seat[i] = uint8(order + 1)
		}
	}
}

func (s *State) release(order int) {
	for i := range s.Seat {
		if s.Seat[i] == uint8(order+1) {
			s.Seat[i] = 0
		}
	}
	s.Returned[order] |= s.Order[order].Wants
}
