import { Anchor, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Schemas } from '../api.ts'
import { businessToday } from '../figures.ts'
import { pathOf } from '../objects.ts'
import { timeLeft } from '../parts/evidence.tsx'
import { ageOf, dayText } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { counted, paiseText } from '../parts/money.tsx'
import { Section } from '../parts/page.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { useSession } from '../session.ts'
import { type WaitingItem as Item, WAITS_AT, waitingQuery } from '../waiting.ts'
import { monthName, sentenceCase } from '../words.ts'

type PayoutDay = Schemas['PayoutDay']

const REFRESH_MS = 15_000
const DAYS_PLANNED = 3
const DAYS_SHOWN = 8

interface Place {
  readonly one: string
  readonly several?: string
  readonly search?: Readonly<Record<string, string>>
  /** The page of the one that is shown as an example. */
  readonly example?: (item: Item) => string
}

/** What waits, in words. */
const PLACES: Readonly<Record<Item['item'], Place>> = {
  disputes: {
    one: 'dispute to send',
    several: 'disputes to send',
    example: ({ example: { id } }) => pathOf('dispute', id),
  },
  approvals: { one: 'approval', search: { status: 'OPEN' } },
  change_requests: {
    one: 'change that a merchant asks for',
    several: 'changes that merchants ask for',
    example: ({ example: { tenantId } }) => pathOf('merchant', tenantId ?? ''),
  },
  payouts_to_approve: {
    one: 'payout to approve',
    several: 'payouts to approve',
    search: { status: 'PREPARED' },
    example: ({ example: { id } }) => pathOf('payout', id),
  },
  payouts_unanswered: {
    one: 'payout without a response of the bank',
    several: 'payouts without a response of the bank',
    search: { status: 'SENT' },
    example: ({ example: { id } }) => pathOf('payout', id),
  },
  refunds_late: {
    one: 'late refund',
    search: { sort: 'created' },
    example: ({ example: { id } }) => pathOf('refund', id),
  },
  credits_to_return: {
    one: 'credit not returned to its payer',
    several: 'credits not returned to their payers',
    search: { status: 'REFUND_PENDING', sort: 'created' },
    example: ({ example: { id } }) => pathOf('payment', id),
  },
  settlement_files: {
    one: 'settlement file missing',
    several: 'settlement files missing',
  },
  bank_statements: {
    one: 'bank account without its statement',
    several: 'bank accounts without their statements',
  },
  suspense: {
    one: 'unmatched credit',
    example: ({ example: { id } }) => pathOf('payment', id),
  },
  statement_lines: {
    one: 'unmatched line of a bank statement',
    several: 'unmatched lines of bank statements',
  },
  settlement_lines: {
    one: 'unmatched line of a settlement',
    several: 'unmatched lines of settlements',
  },
  notices: {
    one: 'quarantined bank notice',
    example: ({ example: { id } }) => pathOf('notice', id),
  },
  events: {
    one: 'webhook event not delivered',
    several: 'webhook events not delivered',
    example: ({ example: { id } }) => pathOf('webhookEndpoint', id),
  },
  book_months: { one: 'month to close', several: 'months to close' },
}

/** What waits for a person, and what is paid out on which day. */
export function WaitingList() {
  const query = useQuery({ ...waitingQuery, refetchInterval: REFRESH_MS })
  return (
    <Loaded query={query}>
      {({ items, payouts, planned }) => (
        <Stack gap="md">
          <Waits items={items} />
          <PayoutDays days={payouts} planned={planned} />
        </Stack>
      )}
    </Loaded>
  )
}

function Waits({ items }: { readonly items: readonly Item[] }) {
  return (
    <Section
      title="Waits for a person"
      aside={
        items.length > 0 && (
          <Text size="xs" c="dimmed">
            due, or oldest
          </Text>
        )
      }
    >
      {items.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing waits.
        </Text>
      ) : (
        <Stack component="ul" gap={0} m={0} p={0} className="lines">
          {items.map((item) => (
            <WaitingItem key={item.item} item={item} />
          ))}
        </Stack>
      )}
    </Section>
  )
}

function WaitingItem({ item }: { readonly item: Item }) {
  const { amount, count, dueOn, example, item: kind, since } = item
  const place = PLACES[kind]
  const left = dueOn === undefined ? undefined : timeLeft(dueOn)
  const detail = [
    amount !== undefined && paiseText(amount),
    [example.name, kind === 'book_months' ? monthName(example.about ?? '') : aboutOf(item)]
      .filter(Boolean)
      .join(', '),
  ].filter(Boolean)
  return (
    <li>
      <Group justify="space-between" wrap="nowrap" align="start" gap="xs">
        <Anchor
          component={Link}
          to={WAITS_AT[kind]}
          search={(place.search ?? {}) as never}
          size="sm"
          fw={500}
        >
          {counted(count, place.one, place.several)}
        </Anchor>
        <Text
          size="sm"
          style={{ whiteSpace: 'nowrap' }}
          {...(dueOn !== undefined && {
            c: `var(--mantine-color-${left === undefined ? 'red' : 'orange'}-light-color)`,
            fw: 500,
          })}
        >
          {dueOn === undefined ? ageOf(since) : left === undefined ? 'overdue' : `in ${left}`}
        </Text>
      </Group>
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {detail[0]}
        {detail.length > 1 && ' · '}
        {detail[1] &&
          (place.example ? (
            <Anchor component={Link} to={place.example(item)} inherit c="inherit" td="underline">
              {detail[1]}
            </Anchor>
          ) : (
            detail[1]
          ))}
      </Text>
    </li>
  )
}

/** What the example is known by: kinds and reasons of the service as words. */
const aboutOf = ({ example: { about, amount }, item }: Item): string | undefined =>
  item === 'approvals' || item === 'notices'
    ? about && sentenceCase(about)
    : item === 'settlement_files'
      ? about && `of ${dayText(about)}`
      : item === 'bank_statements' || item === 'statement_lines'
        ? about
        : amount === undefined
          ? undefined
          : paiseText(amount)

interface PayoutDaysProps {
  readonly days: readonly PayoutDay[]
  readonly planned: readonly Schemas['PlannedPayouts'][]
}

function PayoutDays({ days, planned }: PayoutDaysProps) {
  const { dayEndsAt, timeZone } = useSession()
  const today = businessToday({ dayEndsAt, timeZone })
  const dayName = (day: string) => (day === today ? 'Today' : dayText(day))
  return (
    <Section
      title="Payouts by bank day"
      aside={
        <Anchor component={Link} to="/payouts" size="sm">
          All payouts
        </Anchor>
      }
    >
      {days.length + planned.length === 0 ? (
        <Text size="sm" c="dimmed">
          No payouts in the last 7 days.
        </Text>
      ) : (
        <Stack component="ul" gap={0} m={0} p={0} className="lines">
          {planned.slice(0, DAYS_PLANNED).map(({ preparedOn, ...sum }) => (
            <PayoutLine key={preparedOn} state="PLANNED" {...sum}>
              {dayName(preparedOn)}
            </PayoutLine>
          ))}
          {days.slice(0, DAYS_SHOWN).map(({ businessDay, status, ...sum }) => (
            <PayoutLine key={businessDay + status} state={status} {...sum}>
              <Anchor component={Link} to="/payouts" search={{ businessDay, status } as never} inherit>
                {dayName(businessDay)}
              </Anchor>
            </PayoutLine>
          ))}
        </Stack>
      )}
    </Section>
  )
}

interface PayoutLineProps {
  readonly state: string
  readonly amount: number
  readonly count: number
  /** The day. */
  readonly children: ReactNode
}

const PayoutLine = ({ amount, children, count, state }: PayoutLineProps) => (
  <Group component="li" justify="space-between" wrap="nowrap" gap="xs">
    <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
      {children}
    </Text>
    <StatusBadge state={state} />
    <Text size="sm" ta="right" style={{ fontVariantNumeric: 'tabular-nums' }}>
      {paiseText(amount)}
      <Text span size="xs" c="dimmed">
        {' '}
        {counted(count, 'payout')}
      </Text>
    </Text>
  </Group>
)
