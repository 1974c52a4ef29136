import { Loader, Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listAt } from '../api.ts'
import { PLATFORM_TENANT } from '../objects.ts'

type Query = Record<string, string>

const merchants = async (query: Query) =>
  (await listAt('/merchants')(query)).data.map(({ merchantId, name, vpa }) => ({
    value: merchantId,
    label: `${name} · ${vpa}`,
  }))
const partners = async (query: Query) =>
  (await listAt('/partners')(query)).data.map(({ partnerId, name }) => ({ value: partnerId, label: name }))

/** What belongs to no tenant, such as requests without a caller. */
const PLATFORM = { value: PLATFORM_TENANT, label: 'The platform' }
const platform = ({ q = '' }: Query) =>
  q === PLATFORM.value || PLATFORM.label.toLowerCase().includes(q.toLowerCase()) ? [PLATFORM] : []

const SOURCES = {
  merchant: { label: 'Merchant', load: merchants },
  partner: { label: 'Partner', load: partners },
  tenant: {
    label: 'Merchant or partner',
    load: async (query: Query) => [
      ...platform(query),
      ...(await Promise.all([merchants(query), partners(query)])).flat(),
    ],
  },
  company: {
    label: 'Company',
    load: async (query: Query) =>
      (await listAt('/companies')(query)).data.map(({ companyId, name, partnerName }) => ({
        value: companyId,
        label: `${name} · ${partnerName}`,
      })),
  },
} as const

type PickerProps = Omit<SelectProps, 'data' | 'label'> & {
  readonly of: keyof typeof SOURCES
  readonly label?: string
}

/** Chooses a thing by the begin of its name, or by its id; the service searches. */
export function Picker({ of, ...select }: PickerProps) {
  const { load } = SOURCES[of]
  const label = select.label ?? SOURCES[of].label
  const [typed, setTyped] = useState('')
  const [settled] = useDebouncedValue(typed.split(' · ')[0]!.trim(), 200)
  // What is chosen is loaded by its id, so that it has a name also when it came with the address.
  const chosen = select.value ?? ''
  const [used, setUsed] = useState(false)
  const found = useQuery({
    // Lists have one beside other filters: it asks when it gets the focus.
    enabled: used || chosen !== '',
    queryKey: [`${of}s`, 'picker', settled || chosen],
    queryFn: () => load({ limit: '20', ...((settled || chosen) && { q: settled || chosen }) }),
    placeholderData: keepPreviousData,
  })
  return (
    <Select
      label={label}
      placeholder="Begin to type its name, or paste its id"
      {...select}
      onFocus={() => setUsed(true)}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      // The service has searched already, also by id.
      filter={({ options }) => options}
      data={found.data ?? []}
      clearButtonProps={{ 'aria-label': `Clear ${label}` }}
      nothingFoundMessage={found.isFetching ? 'Searching …' : 'None is called that'}
      {...(found.isFetching && { rightSection: <Loader size="xs" /> })}
    />
  )
}
