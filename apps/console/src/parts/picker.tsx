import { Loader, Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listAt } from '../api.ts'

type Query = Record<string, string>

const SOURCES = {
  merchant: {
    label: 'Merchant',
    load: async (query: Query) =>
      (await listAt('/merchants')(query)).data.map(({ merchantId, name, vpa }) => ({
        value: merchantId,
        label: `${name} · ${vpa}`,
      })),
  },
  partner: {
    label: 'Partner',
    load: async (query: Query) =>
      (await listAt('/partners')(query)).data.map(({ partnerId, name }) => ({
        value: partnerId,
        label: name,
      })),
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
  const found = useQuery({
    queryKey: [`${of}s`, 'picker', settled || chosen],
    queryFn: () => load({ limit: '20', ...((settled || chosen) && { q: settled || chosen }) }),
    placeholderData: keepPreviousData,
  })
  return (
    <Select
      label={label}
      placeholder="Begin to type its name, or paste its id"
      {...select}
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
