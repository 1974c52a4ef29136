import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { responseOf } from '../../api.ts'
import { ConfirmAction } from '../../parts/confirm-action.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { dayText, Instant } from '../../parts/instant.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { counted, rupees } from '../../parts/money.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { sentenceCase } from '../../words.ts'
import { api, type Schemas } from '../api.ts'
import { changed, useMember } from '../session.ts'

type Terms = Schemas['OwnPayoutTerms']

/** Where payouts go, what is charged, and the address that customers pay to; what waits, and what holds meanwhile. */
export function BankAccount() {
  const terms = useQuery({ queryKey: ['payout-terms'], queryFn: () => responseOf(api.GET('/payout-terms')) })
  return (
    <Page
      title="Bank account and fee"
      lead="The operator enters changes that you ask for. What waits shows here, and what holds until then."
    >
      <Loaded query={terms}>
        {(one) => (
          <>
            <Account terms={one} />
            <Address terms={one} />
            <Fees terms={one} />
            <Schedule terms={one} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Account({ terms: { bankAccount } }: { readonly terms: Terms }) {
  return (
    <Section title="Bank account of your payouts">
      {bankAccount ? (
        <Facts
          facts={[
            { label: 'Account', value: `••${bankAccount.ends}` },
            { label: 'Holder', value: bankAccount.holder },
            { label: 'IFSC', value: bankAccount.ifsc },
            { label: 'Since', value: <Instant at={bankAccount.updatedOn} /> },
            { label: 'State for GST', value: bankAccount.gstState },
            {
              label: 'Payouts',
              value: 'Go here. One that is prepared already keeps the account that it was prepared for.',
            },
          ]}
        />
      ) : (
        <Alert color="yellow" title="None yet">
          Nothing is paid out until the operator has entered your bank account. What you are owed waits.
        </Alert>
      )}
    </Section>
  )
}

function Address({ terms: { nextVpa, nextVpaOn, vpa } }: { readonly terms: Terms }) {
  const { can } = useMember()
  return (
    <Section title="UPI address that your customers pay to">
      <Facts
        facts={[
          { label: 'Now', value: vpa },
          { label: 'Waits', value: nextVpa ?? 'No change' },
          ...(nextVpa ? [{ label: 'Holds from', value: <Instant at={nextVpaOn} long /> }] : []),
        ]}
      />
      {nextVpa && (
        <Alert color="orange" mt="md" title={`New QR codes pay to ${nextVpa} from then on`}>
          Until then payments go to {vpa}. If you did not ask for this change, take it back and notify the
          operator.
          {can('admin') && (
            <div style={{ marginTop: 8 }}>
              <ConfirmAction
                label="Take back"
                confirm="Keep the present address"
                danger
                run={async () => {
                  await responseOf(api.DELETE('/next-payment-address'))
                  await changed('payout-terms', 'overview')
                }}
              >
                New QR codes stay with {vpa}.
              </ConfirmAction>
            </div>
          )}
        </Alert>
      )}
    </Section>
  )
}

function Fees({ terms: { fees } }: { readonly terms: Terms }) {
  return (
    <Section title="Fee of each payment">
      {fees.length === 0 ? (
        'Nothing is charged.'
      ) : (
        <DataTable
          caption="Fees"
          columns={[
            { title: 'From', cell: ({ validFrom }) => dayText(validFrom) },
            { title: 'Of the amount', align: 'right', cell: ({ percent }) => `${percent} %` },
            { title: 'And', align: 'right', cell: ({ fixed }) => rupees(fixed) },
          ]}
          rows={fees}
          rowKey={({ validFrom, percent, fixed }) => validFrom + percent + fixed}
        />
      )}
    </Section>
  )
}

function Schedule({ terms: { schedules } }: { readonly terms: Terms }) {
  return (
    <Section title="When payouts are prepared">
      {schedules.length === 0
        ? 'No schedule is set: the operator prepares each payout.'
        : schedules.map(({ after, every, from, minimum, on, periodEnds, preparedOn }) => (
            <Facts
              key={from}
              facts={[
                { label: 'Every', value: `${sentenceCase(every)}${on ? `, ${on}` : ''}` },
                { label: 'From', value: dayText(from) },
                { label: 'After the end of a period', value: counted(after, 'bank day') },
                { label: 'Least amount', value: rupees(minimum) },
                { label: 'Period ends', value: periodEnds && dayText(periodEnds) },
                { label: 'Prepared on', value: preparedOn && dayText(preparedOn) },
              ]}
            />
          ))}
    </Section>
  )
}
