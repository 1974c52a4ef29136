import { Text } from '@mantine/core'
import { api, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { counted, rupees } from '../parts/money.tsx'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { queryClient, useSession } from '../session.ts'

/** Takes a transfer back that was recorded by mistake: offered as long as no bank statement shows it. */
export function ReverseSettlement({ transfer }: { readonly transfer: Schemas['Settlement'] }) {
  const { can } = useSession()
  const { batchId, batchUtr, lines, netAmount, statementLineId, status } = transfer
  if (status === 'REVERSED' || statementLineId !== undefined || !can('finance')) return undefined
  return (
    <ConfirmAction
      label="Take the transfer back"
      confirm="Take it back"
      danger
      withReason
      run={async (reason) => {
        const path = { params: { path: { batchId } } }
        const reversed = await responseOf(
          api.POST('/settlements/{batchId}/reverse', { ...path, body: { reason } }),
        )
        await queryClient.invalidateQueries({ queryKey: ['settlements'] })
        await queryClient.invalidateQueries({ queryKey: ['settlement-lines'] })
        if ('approvalId' in reversed) notifyWaiting(reversed.amount)
      }}
    >
      <Text size="sm">
        {rupees(netAmount)} under {batchUtr}, {counted(lines, 'line')}: what it has moved is entered the other
        way round today. Its payments are not settled any more, and their merchants are notified. Import the
        right file afterwards.
      </Text>
    </ConfirmAction>
  )
}
