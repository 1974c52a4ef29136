import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { responseOf } from '../../api.ts'
import { once } from '../../form-key.ts'
import { CardHistory } from '../../parts/card-history.tsx'
import { CardLoads } from '../../parts/card-loads.tsx'
import { CardMoves } from '../../parts/card-moves.tsx'
import { CardTransactions } from '../../parts/card-transactions.tsx'
import { EndCard } from '../../parts/end-card.tsx'
import { Figures } from '../../parts/figures.tsx'
import { dayText, Instant } from '../../parts/instant.tsx'
import { LoadCard } from '../../parts/load-card.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { rupees } from '../../parts/money.tsx'
import { Id, ObjectLink } from '../../parts/object-link.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { StatementButton } from '../../parts/statement-button.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { accountTypeLabel, personName } from '../../words.ts'
import { api, apiAt, getList, payloadOf } from '../api.ts'
import { CsvDownload } from '../csv-download.tsx'
import { changed, useMember } from '../session.ts'

/** The record that programs get, what the list says of the card, its exact balance, its end and its life. */
async function load(svcCardId: string) {
  const inPath = { params: { path: { svcCardId } } }
  const [record, listed, balance, end, { data: changes }] = await Promise.all([
    payloadOf(api.GET('/partner/svcCard/{svcCardId}', inPath)),
    responseOf(api.GET('/cards', { params: { query: { q: svcCardId } } })),
    payloadOf(api.GET('/partner/svcCard/{svcCardId}/balance', inPath)),
    payloadOf(api.GET('/partner/svcCard/{svcCardId}/end', inPath)),
    payloadOf(api.GET('/partner/svcCard/{svcCardId}/history', inPath)),
  ])
  return { record, row: listed.data[0]!, balance, end, changes }
}
type Detail = Awaited<ReturnType<typeof load>>
interface Props {
  readonly detail: Detail
}

const reload = () => changed('cards', 'card-transactions', 'card-accounts', 'overview')

export function Card() {
  const { svcCardId = '' } = useParams({ strict: false })
  const card = useQuery({ queryKey: ['cards', svcCardId], queryFn: () => load(svcCardId) })
  const transactions = `/partner/svcCard/${svcCardId}/transactions`
  return (
    <Page
      title={card.data?.record.maskedNumber ?? 'Card'}
      badge={card.data && <StatusBadge state={card.data.record.cardStatus.name} />}
      trail={[{ to: '/cards', label: 'Cards' }]}
      actions={card.data && <Actions detail={card.data} />}
    >
      <Loaded query={card}>
        {(detail) => (
          <>
            <Sums detail={detail} />
            <About detail={detail} />
            <Section
              title="Transactions"
              aside={
                <CsvDownload
                  label="Export CSV"
                  path={transactions}
                  filters={{}}
                  name={`card-${svcCardId}`}
                  compact
                />
              }
            >
              <CardTransactions svcCardId={svcCardId} load={getList(transactions)} />
            </Section>
            <CardLoads id={svcCardId} load={getList('/partner/card-transactions', { svcCardId })} />
            <CardHistory
              changes={detail.changes}
              createdOn={detail.row.createdOn}
              partner="you or your programs"
              operator="the operator"
            />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const Sums = ({ detail: { balance, record, row } }: Props) => (
  <Figures
    figures={[
      { label: 'Can be spent now', value: rupees(balance.openToBuy) },
      { label: 'Held by shops', value: rupees(balance.held), note: 'approved, not yet taken' },
      { label: 'Balance', value: rupees(balance.balance) },
      { label: 'First load', value: rupees(row.load) },
      {
        label: 'Spent this month',
        value: rupees(record.usedMtd),
        note: `${rupees(record.usedYtd)} this year`,
      },
    ]}
  />
)

const ended = ({ endedOn, replacedBy, replaces, returns, unclaimedOn }: Detail['end']) => [
  ...(endedOn ? [{ label: 'Ended', value: <Instant at={endedOn} long /> }] : []),
  ...(replaces ? [{ label: 'Replaces', value: <ObjectLink kind="card" id={replaces} /> }] : []),
  ...(replacedBy ? [{ label: 'Replaced by', value: <ObjectLink kind="card" id={replacedBy} /> }] : []),
  ...(unclaimedOn && returns.length === 0
    ? [{ label: 'What is left returns from', value: <Instant at={unclaimedOn} long /> }]
    : []),
]

function About({ detail: { end, record, row } }: Props) {
  const { svcCardId, cardAccountId } = row
  return (
    <Section
      title="About"
      aside={
        <StatementButton
          href={`${apiAt}/partner/svcCard/${svcCardId}/statement.pdf`}
          name={`card-${svcCardId}`}
          compact
        />
      }
    >
      <Facts
        facts={[
          {
            label: 'Holder',
            value: (
              <ObjectLink kind="user" id={record.userId}>
                {personName(record)}
              </ObjectLink>
            ),
          },
          {
            label: 'Company',
            value: (
              <ObjectLink kind="company" id={record.companyId}>
                {record.companyName}
              </ObjectLink>
            ),
          },
          { label: 'Card account', value: <ObjectLink kind="cardAccount" id={cardAccountId} /> },
          { label: 'E-mail', value: record.email },
          { label: 'Mobile', value: record.mobile },
          { label: 'Identity check (KYC)', value: record.kycStatus.label },
          {
            label: 'Type',
            value: `${accountTypeLabel(record.accountType.name)}, ${row.physical ? 'physical' : 'virtual'}`,
          },
          { label: 'Valid until the end of', value: dayText(end.lastDay) },
          { label: 'Issued', value: <Instant at={row.createdOn} long /> },
          ...ended(end),
          { label: 'Card id', value: <Id id={svcCardId} what="card id" /> },
        ]}
      />
    </Section>
  )
}

/** What a card of a status may be given next; its activation is the holder’s. */
const NEXT: Readonly<Record<string, readonly string[]>> = { UL: ['L', 'BL'], L: ['UL', 'BL'], AP: ['BL'] }

function Actions({ detail: { balance, end, record } }: Props) {
  const { can } = useMember()
  const { svcCardId, cardStatus, maskedNumber } = record
  if (!can('operator')) return undefined
  const path = { svcCardId }
  return (
    <>
      {!end.replacedBy && (
        <EndCard
          card={record}
          balance={balance.balance}
          replace={async (reason, key) => {
            const requested = { params: { path, header: once(key) }, body: { reason } }
            const made = await payloadOf(api.POST('/partner/svcCard/{svcCardId}/replace', requested))
            await reload()
            return made
          }}
          giveBack={async (consentReference, key) => {
            const requested = { params: { path, header: once(key) }, body: { consentReference } }
            await payloadOf(api.POST('/partner/svcCard/{svcCardId}/return', requested))
            await reload()
          }}
        />
      )}
      <CardMoves
        status={cardStatus.name}
        maskedNumber={maskedNumber}
        legal={NEXT[cardStatus.name] ?? []}
        undone="Undone"
        set={async (status, reason, key) => {
          const params = { path, header: once(key) }
          await payloadOf(
            api.PATCH('/partner/svcCard/{svcCardId}/status', { params, body: { status, reason } }),
          )
          await reload()
        }}
      />
      <LoadCard
        card={record}
        move={async (way, body, key) => {
          const requested = { params: { path, header: once(key) }, body }
          const moved = await payloadOf(
            way === 'load'
              ? api.POST('/partner/svcCard/{svcCardId}/loads', requested)
              : api.POST('/partner/svcCard/{svcCardId}/unloads', requested),
          )
          await reload()
          return moved
        }}
      />
    </>
  )
}
