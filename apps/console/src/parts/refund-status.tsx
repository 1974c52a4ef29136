import { Text } from '@mantine/core'
import { sentenceCase } from '../words.ts'
import { StatusBadge } from './status-badge.tsx'

interface RefundStatusProps {
  readonly refund: { readonly status: string; readonly failureReason?: string }
}

/** Where a refund is, with the reason where it failed. */
export const RefundStatus = ({ refund: { status, failureReason } }: RefundStatusProps) => (
  <>
    <StatusBadge state={status} />
    {failureReason && (
      <Text size="xs" c="dimmed">
        {sentenceCase(failureReason)}
      </Text>
    )}
  </>
)
