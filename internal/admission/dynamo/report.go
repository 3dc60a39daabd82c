package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"waitroom/internal/admission"
)

// PutReport implements admission.Store.
func (s *Store) PutReport(ctx context.Context, event, replica string, body []byte) error {
	it := reportKey(event, replica)
	var err error
	if body == nil {
		_, err = s.again.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.table, Key: it})
	} else {
		it["report"] = bin(body)
		_, err = s.again.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: it})
	}
	if err != nil {
		return fmt.Errorf("dynamo: put report: %w", err)
	}
	return nil
}

// Reports implements admission.Store.
func (s *Store) Reports(ctx context.Context, event string) (map[string][]byte, error) {
	last := map[string][]byte{}
	pages := dynamodb.NewQueryPaginator(s.again, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String(`pk = :pk`),
		ExpressionAttributeValues: item{":pk": text("report#" + event)},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("dynamo: reports: %w", err)
		}
		for _, it := range page.Items {
			r := reader{item: it}
			last[r.text("sk")] = r.bin("report")
			if r.err != nil {
				return nil, fmt.Errorf("dynamo: report: %w", r.err)
			}
		}
	}
	return last, nil
}

// Export implements admission.Store: the one scan, of the whole table. Places
// that move while it runs come as they were or as they are.
func (s *Store) Export(ctx context.Context, event string, epoch int64, each func(admission.Place) error) error {
	pages := dynamodb.NewScanPaginator(s.again, &dynamodb.ScanInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		FilterExpression:          aws.String(`begins_with(pk, :place) AND sk = :event AND epoch = :epoch`),
		ExpressionAttributeValues: item{":place": text("place#"), ":event": text(event), ":epoch": num(epoch)},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("dynamo: export: %w", err)
		}
		for _, it := range page.Items {
			p, err := toPlace(it)
			if err != nil {
				return err
			}
			if err := each(p); err != nil {
				return err
			}
		}
	}
	return nil
}
