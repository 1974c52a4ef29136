import { Loader, Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listAt } from '../api.ts'

const SOURCES = {
  merchant: ['Merchant', (q: Record<string, string>) => listAt('/merchants')(q).then(({ data }) => data.map(({ merchantId, name, vpa }) => ({ value: merchantId, label: `${name} · ${vpa}` })))],
  partner: ['Partner', (q: Record<string, string>) => listAt('/partners')(q).then(({ data }) => data.map(({ partnerId, name }) => ({ value: partnerId, label: name })))],
  company: ['Company', (q: Record<string, string>) => listAt('/companies')(q).then(({ data }) => data.map(({ companyId, name, partnerName }) => ({ value: companyId, label: `${name} · ${partnerName}` })))],
} as const

type PickerProps = Omit<SelectProps, 'data' | 'label'> & { readonly of: keyof typeof SOURCES }

/** Chooses a thing by the begin of its name, or by its id; the service searches. */
export function Picker({ of, ...select }: PickerProps) {
  const [label, load] = SOURCES[of]
  const [typed, setTyped] = useState('')
  const [settled] = useDebouncedValue(typed.split(' · ')[0]!.trim(), 200)
  const found = useQuery({
    queryKey: [`${of}s`, 'picker', settled],
    queryFn: () => load({ limit: '20', ...(settled && { q: settled }) }),
    placeholderData: keepPreviousData,
  })
  return (
    <Select
      {...select}
      label={label}
      placeholder="Begin to type its name, or paste its id"
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      // The service has searched already, also by id.
      filter={({ options }) => options}
      data={found.data ?? []}
      nothingFoundMessage={found.isFetching ? 'Searching …' : 'None is called that'}
      rightSection={found.isFetching ? <Loader size="xs" /> : undefined}
    />
  )
}
