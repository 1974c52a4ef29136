import { Button, CloseButton, Collapse, Group, Select, SimpleGrid, TextInput } from '@mantine/core'
import { useDebouncedCallback, useDisclosure, useMediaQuery } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { amountRange } from '../amount-range.ts'
import type { operations } from '../api-types.ts'
import { dayOf, instantOf, secondOf, startOfDay } from '../business-day.ts'
import type { ListSearch, Search } from '../list-search.ts'
import { useSession } from '../session.ts'
import { PHONE } from './data-table.tsx'
import { Picker } from './picker.tsx'

/** One filter of a list; `name` is that of the query parameter, in the page's address as in the service's. */
export interface Filter {
  readonly name: string
  readonly label: string
  /**
   * `from` and `to` are days in the business zone, sent as instants; `to` includes its day. `at` is an instant to the
   * second in the business zone; `day` is a business day. `amount` is an amount or a range of amounts, as people write it.
   * `linked` is set by links of other pages: it is shown when it is set, and can be cleared.
   */
  readonly kind:
    | 'linked'
    | 'text'
    | 'select'
    | 'from'
    | 'to'
    | 'at'
    | 'day'
    | 'amount'
    | 'partner'
    | 'company'
    | 'merchant'
    | 'tenant'
  readonly options?: readonly { readonly value: string; readonly label: string }[]
  readonly placeholder?: string
  /** Filters that bound what is read for this one; without them it finds what is of the last 90 days. */
  readonly bounds?: readonly string[]
}

/** The choices of a filter, typed by its operation: a value that comes or goes there does not compile here. */
export type ValueOf<Id extends keyof operations, Name extends string> =
  NonNullable<operations[Id]['parameters']['query']> extends { readonly [Key in Name]?: infer Value }
    ? Extract<Value, string>
    : never

/** One choice for each value, by its label. */
export const choicesOf = <Value extends string>(labels: Readonly<Record<Value, string>>) =>
  (Object.keys(labels) as Value[]).map((value) => ({ value, label: labels[value] }))

/** The same where what is shown of a value elsewhere is its label. */
export const choicesBy = <Value extends string>(
  labelOf: (value: string) => string,
  values: Readonly<Record<Value, true>>,
) => (Object.keys(values) as Value[]).map((value) => ({ value, label: labelOf(value) }))

export const isFiltered = (search: Search, filters: readonly Filter[]): boolean =>
  filters.some(({ name }) => search[name])

/** From and to by day of creation, for the lists that take both. */
export const CREATED: readonly Filter[] = [
  { name: 'createdFrom', label: 'Created from', kind: 'from' },
  { name: 'createdTo', label: 'Created until', kind: 'to' },
]

/** The same to the second; the second one is excluded. */
export const CREATED_AT: readonly Filter[] = [
  { name: 'createdFrom', label: 'From', kind: 'at' },
  { name: 'createdTo', label: 'Before', kind: 'at' },
]

/** An amount or a range of amounts. */
export const AMOUNT: Filter = {
  name: 'amount',
  label: 'Amount',
  kind: 'amount',
  placeholder: '517.25, 500-600, >5,000',
}

/** The same among those of all tenants. */
export const AMOUNT_OF_ALL: Filter = { ...AMOUNT, bounds: ['merchantId', 'q', 'createdFrom'] }

/** Of merchants and partners. */
export const STATUS: Filter = {
  name: 'status',
  label: 'Status',
  kind: 'select',
  options: [
    { value: 'active', label: 'Active' },
    { value: 'disabled', label: 'Disabled' },
  ],
}

export const PARTNER: Filter = { name: 'partnerId', label: 'Partner', kind: 'partner' }
export const COMPANY: Filter = { name: 'companyId', label: 'Company', kind: 'company' }
export const MERCHANT: Filter = { name: 'merchantId', label: 'Merchant', kind: 'merchant' }
export const TENANT: Filter = { name: 'tenantId', label: 'Merchant or partner', kind: 'tenant' }

/** A name for how many columns a row of filters has on a desk. */
const columnsFor = ({ length }: readonly Filter[]) => (length > 6 ? 4 : Math.max(length, 3))

interface FiltersProps {
  readonly filters: readonly Filter[]
  readonly list: ListSearch
}

/** The first filter is always there; on a phone the others fold away. */
export function Filters({ filters, list }: FiltersProps) {
  const phone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false })
  const shown = filters.filter(({ kind, name }) => kind !== 'linked' || list.search[name])
  const set = shown.slice(1).filter(({ name }) => list.search[name]).length
  const [unfolded, { toggle }] = useDisclosure(set > 0)
  const fields = shown.map((filter) => <FilterField key={filter.name} filter={filter} list={list} />)
  if (filters.length === 0) return undefined
  if (!phone)
    return (
      <SimpleGrid cols={{ sm: 3, lg: columnsFor(shown) }} spacing="sm" role="search" aria-label="Filters">
        {fields}
      </SimpleGrid>
    )
  return (
    <div role="search" aria-label="Filters">
      <Group wrap="nowrap" align="end" gap="xs">
        <div style={{ flex: 1 }}>{fields[0]}</div>
        {fields.length > 1 && (
          <Button variant="default" onClick={toggle} aria-expanded={unfolded}>
            {set > 0 ? `Filters (${set})` : 'Filters'}
          </Button>
        )}
      </Group>
      <Collapse expanded={unfolded}>
        <SimpleGrid cols={2} spacing="xs" mt="xs">
          {fields.slice(1)}
        </SimpleGrid>
      </Collapse>
    </div>
  )
}

function FilterField({ filter, list }: { readonly filter: Filter; readonly list: ListSearch }) {
  const { name, label, kind, options = [] } = filter
  const value = list.search[name]
  const set = (next: string | undefined) => list.filter({ [name]: next || undefined })
  if (kind === 'linked')
    return (
      <TextInput
        label={label}
        value={value ?? ''}
        readOnly
        rightSection={<CloseButton size="sm" onClick={() => set(undefined)} aria-label={`Clear ${label}`} />}
      />
    )
  if (kind === 'text' || kind === 'amount')
    return <TextFilter filter={filter} value={value ?? ''} set={set} />
  if (kind === 'select')
    return (
      <Select
        label={label}
        placeholder="Any"
        data={[...options]}
        value={value ?? null}
        onChange={(chosen) => set(chosen ?? undefined)}
        clearable
        searchable={options.length > 8}
        clearButtonProps={{ 'aria-label': `Clear ${label}` }}
      />
    )
  if (kind === 'partner' || kind === 'company' || kind === 'merchant' || kind === 'tenant')
    return (
      <Picker
        of={kind}
        placeholder="Any"
        value={value ?? null}
        onChange={(id) => set(id ?? undefined)}
        clearable
      />
    )
  if (kind === 'day')
    return (
      <TextInput
        type="date"
        label={label}
        value={value ?? ''}
        onChange={(event) => set(event.currentTarget.value)}
      />
    )
  if (kind === 'at') return <SecondFilter filter={filter} value={value} set={set} />
  return <DayFilter filter={filter} value={value} set={set} />
}

interface FieldProps<Value> {
  readonly filter: Filter
  readonly value: Value
  readonly set: (value: string | undefined) => void
}

const UNREADABLE_AMOUNT = 'Write it as 517.25, 500-600, >5,000 or <100'

function TextFilter({ filter: { kind, label, placeholder }, value, set }: FieldProps<string>) {
  const [typed, setTyped] = useState(value)
  const sent = useRef(value)
  const isReadable = (text: string) => kind === 'text' || text === '' || amountRange(text) !== undefined
  const settle = useDebouncedCallback((text: string) => {
    // The list stays as it is until it can be read.
    if (!isReadable(text.trim())) return
    sent.current = text.trim()
    set(sent.current)
  }, 350)
  useEffect(() => {
    // What was sent comes back without the spaces of what is being typed.
    if (value === sent.current) return
    // The address may change by itself: back button, a cleared filter.
    sent.current = value
    setTyped(value)
  }, [value])
  return (
    <TextInput
      type="search"
      label={label}
      placeholder={placeholder}
      value={typed}
      {...(!isReadable(typed.trim()) && { error: UNREADABLE_AMOUNT })}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        settle(event.currentTarget.value)
      }}
    />
  )
}

function DayFilter({ filter: { label, kind }, value, set }: FieldProps<string | undefined>) {
  const { timeZone } = useSession()
  const inclusive = kind === 'to' ? 1 : 0
  return (
    <TextInput
      type="date"
      label={label}
      value={value ? dayOf(value, timeZone, -inclusive) : ''}
      onChange={(event) => {
        const day = event.currentTarget.value
        set(day ? startOfDay(day, timeZone, inclusive) : undefined)
      }}
    />
  )
}

function SecondFilter({ filter: { label }, value, set }: FieldProps<string | undefined>) {
  const { timeZone } = useSession()
  const shown = value ? secondOf(new Date(value), timeZone) : ''
  const [typed, setTyped] = useState(shown)
  useEffect(() => setTyped(shown), [shown])
  const settle = useDebouncedCallback(
    (text: string) => set(text ? instantOf(text, timeZone) : undefined),
    350,
  )
  return (
    <TextInput
      type="datetime-local"
      step={1}
      label={label}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        settle(event.currentTarget.value)
      }}
    />
  )
}
