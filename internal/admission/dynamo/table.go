package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// tableWait is how long a new table may take; AWS needs some 10 s.
const tableWait = 2 * time.Minute

// EnsureTable makes the table, billed by the request, if there is none, and
// refuses one with other keys. Harmless when repeated.
func (s *Store) EnsureTable(ctx context.Context) error {
	var none *types.ResourceNotFoundException
	out, err := s.again.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &s.table})
	if errors.As(err, &none) {
		out, err = s.createTable(ctx)
	}
	if err != nil {
		return fmt.Errorf("dynamo: table %s: %w", s.table, err)
	}
	keys := out.Table.KeySchema
	if len(keys) != 2 || aws.ToString(keys[0].AttributeName) != "pk" || aws.ToString(keys[1].AttributeName) != "sk" {
		return fmt.Errorf("dynamo: table %s is another's: its keys are not pk and sk", s.table)
	}
	return nil
}

// createTable also ends well when another replica makes it meanwhile.
func (s *Store) createTable(ctx context.Context) (*dynamodb.DescribeTableOutput, error) {
	_, err := s.again.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   &s.table,
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	var made *types.ResourceInUseException
	if err != nil && !errors.As(err, &made) {
		return nil, err
	}
	w := dynamodb.NewTableExistsWaiter(s.again, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 20*time.Millisecond, time.Second
	})
	return w.WaitForOutput(ctx, &dynamodb.DescribeTableInput{TableName: &s.table}, tableWait)
}
