import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { dayOf } from '../business-day.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { count, Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Picker } from '../parts/picker.tsx'
import { queryClient, useSession } from '../session.ts'

type Outcome = Schemas['PayoutOfRun']

/** All merchants, some in each call. */
async function runFor(businessDay: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (let afterMerchantId: string | undefined; ; ) {
    const { data, resumeAfter } = await responseOf(
      api.POST('/payouts/run', {
        body: { businessDay, ...(afterMerchantId !== undefined && { afterMerchantId }) },
      }),
    )
    outcomes.push(...data)
    if (resumeAfter === undefined) return outcomes
    afterMerchantId = resumeAfter
  }
}

async function prepareFor(businessDay: string, merchantId: string): Promise<Outcome[]> {
  const payout = await responseOf(api.POST('/payouts', { body: { businessDay, merchantId } }))
  return [{ merchantId, payoutId: payout.payoutId, amount: payout.amount.toFixed(2) }]
}

/** Prepares the payouts of a business day, and shows what came of it. */
export function PreparePayouts() {
  const { timeZone } = useSession()
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>()
  return (
    <>
      <FormDialog
        label="Prepare payouts"
        send="Prepare"
        initial={{ businessDay: dayOf(new Date().toISOString(), timeZone, -1), merchantId: '' }}
        rules={{ businessDay: needed }}
        fields={(form) => (
          <>
            <Text size="sm">
              Pays what was paid up to the end of this day, less refunds, fees and GST. Nothing leaves before
              another person approves it. A payment is in one payout, so a repeat adds only what has become
              due since.
            </Text>
            <TextInput
              type="date"
              label="Business day"
              description="It must be over"
              data-autofocus
              {...form.getInputProps('businessDay')}
            />
            <Picker
              of="merchant"
              label="Only this merchant"
              clearable
              {...form.getInputProps('merchantId')}
            />
          </>
        )}
        submit={async ({ businessDay, merchantId }) => {
          setOutcomes(await (merchantId ? prepareFor(businessDay, merchantId) : runFor(businessDay)))
          await queryClient.invalidateQueries({ queryKey: ['payouts'] })
        }}
      />
      <Modal
        opened={outcomes !== undefined}
        onClose={() => setOutcomes(undefined)}
        title="Prepared"
        size="lg"
      >
        {outcomes && <Outcomes outcomes={outcomes} close={() => setOutcomes(undefined)} />}
      </Modal>
    </>
  )
}

const REASONS: Readonly<Record<NonNullable<Outcome['reason']>, string>> = {
  nothing_due: 'Nothing that the bank has settled is due up to this day',
  carried_forward: 'Refunds and fees exceed payments; they are carried forward',
  no_bank_account: 'The merchant has no bank account',
}

const COLUMNS: readonly Column<Outcome>[] = [
  { title: 'Merchant', cell: ({ merchantId }) => <ObjectLink kind="merchant" id={merchantId} /> },
  {
    title: 'Outcome',
    cell: ({ payoutId, reason }) =>
      payoutId ? <ObjectLink kind="payout" id={payoutId} /> : reason && REASONS[reason],
  },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} /> },
]

interface OutcomesProps {
  readonly outcomes: readonly Outcome[]
  readonly close: () => void
}

function Outcomes({ outcomes, close }: OutcomesProps) {
  const prepared = outcomes.filter(({ payoutId }) => payoutId).length
  return (
    <Stack>
      <Text role="status">
        <b>{count(prepared)}</b> {prepared === 1 ? 'payout' : 'payouts'} prepared,{' '}
        {count(outcomes.length - prepared)} merchants without one.
      </Text>
      {outcomes.length > 0 && (
        <DataTable
          caption="Prepared payouts"
          columns={COLUMNS}
          rows={outcomes}
          rowKey={({ merchantId, payoutId }) => payoutId ?? merchantId}
        />
      )}
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          Another person approves them; then they go to the bank in a file.
        </Text>
        <Group gap="xs">
          <Button component={Link} to="/bank-files/out" variant="default">
            File for the bank
          </Button>
          <Button onClick={close}>Close</Button>
        </Group>
      </Group>
    </Stack>
  )
}
