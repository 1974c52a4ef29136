import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { stringifySearch } from '../list-search.ts'
import { DownloadIcon } from '../parts/icons.tsx'
import { saveFile } from '../parts/save-file.ts'
import { apiAt } from './api.ts'

interface CsvDownloadProps {
  readonly label: string
  /** Of what, where one page has several: "Payments of May 2026". */
  readonly of?: string
  readonly path: string
  readonly filters: Readonly<Record<string, string | undefined>>
  /** Of the file, without its ending. */
  readonly name: string
  readonly compact?: boolean
}

/** What an operation returns as CSV to callers that accept that media type. */
export function CsvDownload({ label, of, path, filters, name, compact = false }: CsvDownloadProps) {
  const [busy, setBusy] = useState(false)
  const download = async () => {
    setBusy(true)
    const response = await fetch(apiAt + path + stringifySearch(filters), { headers: { accept: 'text/csv' } })
    setBusy(false)
    if (!response.ok)
      return void notifications.show({ color: 'red', message: 'It could not be exported. Try again.' })
    saveFile(await response.blob(), `${name}.csv`)
  }
  return (
    <Button
      variant="default"
      size={compact ? 'compact-sm' : 'sm'}
      leftSection={<DownloadIcon />}
      loading={busy}
      {...(of !== undefined && { 'aria-label': `${of} as ${label}` })}
      onClick={() => void download()}
    >
      {label}
    </Button>
  )
}
