import { Button } from '@mantine/core'
import { DownloadIcon } from './icons.tsx'

interface StatementButtonProps {
  readonly href: string
  /** Name of the file, without its ending. */
  readonly name: string
  readonly compact?: boolean
  /** Of what, where one page has several: "May 2026". */
  readonly of?: string
}

/** Downloads a statement that the service makes; the session's cookie goes with the request. */
export function StatementButton({ href, name, compact = false, of }: StatementButtonProps) {
  return (
    <Button
      component="a"
      href={href}
      download={`${name}.pdf`}
      variant="default"
      leftSection={<DownloadIcon />}
      size={compact ? 'compact-sm' : 'sm'}
      {...(of !== undefined && { 'aria-label': `Statement (PDF) of ${of}` })}
    >
      Statement (PDF)
    </Button>
  )
}
