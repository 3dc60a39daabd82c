package demo

import (
	"waitroom/internal/inventory"
	"waitroom/internal/listing"
	"waitroom/internal/seating"
)

// Hall reads a seating plan and prices it, from category to category less.
func Hall(file string, plan []byte) (seating.Plan, inventory.Hall, error) {
	p, err := seating.Parse(file, plan)
	if err != nil {
		return p, inventory.Hall{}, err
	}
	var prices []seating.Price
	for i, category := range p.Categories {
		prices = append(prices, seating.Price{Category: category.Name, AmountMinor: int64(max(9500-1500*i, 2000))})
	}
	sold, err := seating.Sell(p, seating.Offer{File: file, Currency: "EUR", Prices: prices})
	if err != nil {
		return p, inventory.Hall{}, err
	}
	return p, *(&listing.Hall{Hall: sold}).Kept(), nil
}
