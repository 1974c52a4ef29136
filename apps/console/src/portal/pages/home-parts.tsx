import { Anchor, Button, Group, List, Skeleton, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { pathOf } from '../../objects.ts'
import { timeLeft } from '../../parts/evidence.tsx'
import { ageOf, dayText, Instant } from '../../parts/instant.tsx'
import { lazyPart } from '../../parts/lazy-part.tsx'
import { counted, paiseText, rupees, shortRupees, sumOf } from '../../parts/money.tsx'
import { NamedLink } from '../../parts/object-link.tsx'
import { Section } from '../../parts/page.tsx'
import type { Schemas } from '../api.ts'

/** From a part of the page to where there is more of it. */
export const More = ({ to, children }: { readonly to: string; readonly children: string }) => (
  <Anchor component={Link} to={to} size="sm">
    {children}
  </Anchor>
)

// The figures are read before it is drawn.
const Chart = lazyPart(
  async () => (await import('../../parts/column-chart.tsx')).ColumnChart,
  <Skeleton h={236} />,
)

interface DaysProps {
  readonly title: string
  readonly of: string
  readonly one: string
  readonly days: readonly Schemas['DaySum'][]
  readonly none: string
  readonly aside?: ReactNode
}

const SHORT_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
export const shortDay = (day: string): string => SHORT_DAY.format(new Date(`${day}T00:00:00Z`))

/** Rupees by business day: columns, and a table for those who want it. */
export function ByDay({ title, of, one, days, none, aside }: DaysProps) {
  const columns = days.map(({ amount, count, day }, index) => ({
    key: day,
    tick: shortDay(day),
    label: dayText(day),
    value: Number(amount.replace('.', '')),
    note: counted(count, one),
    isRunning: index === days.length - 1,
  }))
  const isEmpty = columns.every(({ value }) => value === 0)
  return (
    <Section title={title} aside={aside}>
      <Text size="sm" c="dimmed">
        {isEmpty
          ? none
          : `${days.length} days, ${rupees(sumOf(days.map(({ amount }) => amount)))}. Today is not over.`}
      </Text>
      {!isEmpty && (
        <Chart label={title} columns={columns} format={paiseText} short={shortRupees} valueName={of} />
      )}
    </Section>
  )
}

type Waiting = Schemas['Waiting']

interface Said {
  readonly what: ReactNode
  readonly detail: ReactNode
  readonly when?: ReactNode
}

const left = (due: string | undefined): string | undefined => due && (timeLeft(due) ?? 'over')

function said({ amount, count = 0, due, failure, id, kind, name, since }: Waiting): Said {
  if (kind === 'dispute')
    return {
      what: (
        <NamedLink to={pathOf('dispute', id)}>Dispute of {rupees(amount ?? '0.00')}: send evidence</NamedLink>
      ),
      detail: (
        <>
          Until <Instant at={due} />
          {name && `. The payer says: ${name}`}
        </>
      ),
      when: left(due),
    }
  if (kind === 'credential')
    return {
      what: <NamedLink to="/credentials">Key “{name}” ends</NamedLink>,
      detail: (
        <>
          It works until <Instant at={due} />: your programs need the one that replaced it
        </>
      ),
      when: left(due),
    }
  return {
    what: (
      <NamedLink to={pathOf('webhookEndpoint', id)}>
        {kind === 'webhook' ? 'Webhook fails' : 'Webhook was disabled'}: {hostOf(name)}
      </NamedLink>
    ),
    detail:
      kind === 'webhook'
        ? `${counted(count, 'event')} not delivered${failure ? `, ${failure}` : ''}. They are sent again by themselves.`
        : 'Your program said that it is gone. Nothing is sent to it until you enable it.',
    when: since && ageOf(since),
  }
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)

/** What a person of the tenant should do, the most urgent first. */
export function Waits({
  waits,
  children,
}: {
  readonly waits: readonly Waiting[]
  readonly children?: ReactNode
}) {
  return (
    <Section title="Waits for you">
      {waits.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing waits.
        </Text>
      ) : (
        <ul style={{ margin: 0, padding: 0 }} aria-label="Waits for you">
          {waits.map((waiting) => {
            const { what, detail, when } = said(waiting)
            return (
              <li key={waiting.kind + waiting.id} className="waiting">
                <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
                  {what}
                </Text>
                <Text size="sm" fw={500} style={{ whiteSpace: 'nowrap' }}>
                  {when}
                </Text>
                <Text size="xs" c="dimmed" component="div" style={{ gridColumn: '1 / -1' }}>
                  {detail}
                </Text>
              </li>
            )
          })}
        </ul>
      )}
      {children}
    </Section>
  )
}

const STEPS: Readonly<Record<Schemas['SetUpStep']['step'], readonly [label: string, to: string]>> = {
  credential: ['Issue a key for your programs', '/credentials'],
  qr_code: ['Create a QR code', '/qr-codes'],
  webhook: ['Add a webhook', '/webhooks'],
  bank_account: ['Give your bank account', '/bank-account'],
  payment: ['Receive the first payment', '/payments'],
  encryption_key: ['Create an encryption key', '/encryption-keys'],
  company: ['Register a company', '/companies'],
  card_account: ['Open a card account', '/companies'],
  card: ['Issue the first card', '/card-accounts'],
}

/** The first steps; nothing once all of them are done. */
export function SetUp({ steps }: { readonly steps: readonly Schemas['SetUpStep'][] }) {
  const open = steps.filter(({ isDone }) => !isDone)
  if (open.length === 0) return undefined
  return (
    <Section
      title="Set up"
      aside={
        <Group gap="sm">
          <Text size="sm" c="dimmed">
            {steps.length - open.length} of {steps.length} done
          </Text>
          <Button component="a" href="/docs" variant="default" size="compact-sm">
            API reference
          </Button>
        </Group>
      }
    >
      <List size="sm" spacing={4}>
        {open.map(({ step }) => {
          const [label, to] = STEPS[step]
          return (
            <List.Item key={step}>
              <Anchor inherit underline="always" component={Link} to={to}>
                {label}
              </Anchor>
            </List.Item>
          )
        })}
      </List>
    </Section>
  )
}
