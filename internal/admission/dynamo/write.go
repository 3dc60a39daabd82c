package dynamo

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// update changes one item if it is as the condition says; refused: it is not,
// and nothing changed. It returns the item as it is now.
func (s *Store) update(ctx context.Context, by *dynamodb.Client, key item, set, when string, with item) (now item, refused bool, err error) {
	out, err := by.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: key,
		UpdateExpression: &set, ConditionExpression: &when, ExpressionAttributeValues: with,
		ReturnValues: types.ReturnValueAllNew,
	})
	if err != nil {
		return nil, isRefusal(err), err
	}
	return out.Attributes, false, nil
}

// put writes a whole item if the one there is as the condition says. It is for
// items that name their operation: put twice is put once.
func (s *Store) put(ctx context.Context, it item, when string, with item) (refused bool, err error) {
	_, err = s.again.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.table, Item: it,
		ConditionExpression: &when, ExpressionAttributeValues: with,
	})
	return isRefusal(err), err
}

// get returns nil if there is no such item.
func (s *Store) get(ctx context.Context, key item) (item, error) {
	consistent := true
	out, err := s.again.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.table, Key: key, ConsistentRead: &consistent})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

func isRefusal(err error) bool {
	var refused *types.ConditionalCheckFailedException
	return errors.As(err, &refused)
}
