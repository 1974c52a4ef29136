import { createRequire } from 'node:module'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { formatRupees } from '@svc/kernel/money'
import { openSync } from 'fontkit'
import Pdfkit from 'pdfkit'

const require = createRequire(import.meta.url)
/** Has the rupee sign, Latin and Devanagari; embedded, so that a statement looks alike everywhere. */
const REGULAR = 'regular'
const BOLD = 'bold'
/** Read once: to read the tables of both takes nine tenths of the time of a statement of one page. */
const FONTS = {
  [REGULAR]: openSync(require.resolve('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf')),
  [BOLD]: openSync(require.resolve('@expo-google-fonts/noto-sans/600SemiBold/NotoSans_600SemiBold.ttf')),
}

const A4 = { width: 595.28, height: 841.89 }
const MARGIN = 40
const WIDTH = A4.width - 2 * MARGIN
const BOTTOM = A4.height - MARGIN - 24
const ROW = 15
const SIZE = 8.5
/** What is a little too long for its column, such as an id of wide letters, is written smaller; the rest takes more lines. */
const SIZE_MIN = 6.5
const GREY = '#52606d'
const LINE = '#c3ccd5'
/** Other requests are served after so many rows. */
const ROWS_AT_ONCE = 25

const RUPEES = new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR' })
/** Paise as rupees in lakh and crore: `₹1,23,456.78`. */
export const rupeesText = (paise: bigint): string =>
  RUPEES.format(formatRupees(paise) as Intl.StringNumericLiteral).replace('-', '−')

export interface PdfColumn<Row> {
  readonly title: string
  /** Share of the page's width. */
  readonly share: number
  readonly align?: 'right'
  readonly cell: (row: Row) => string
}

export interface Heading {
  readonly title: string
  /** Whose it is. */
  readonly name: string
  readonly facts: readonly (readonly [label: string, value: string])[]
  /** At the foot of every page. */
  readonly foot: string
  readonly createdAt: Date
}

/** Text of a column as it fits there, from the left (`x`) or up to the right edge. */
type Cell = {
  readonly text: string
  readonly font: string
  readonly size: number
  readonly height: number
} & ({ readonly right: number } | { readonly x: number; readonly width?: number })

const heightOf = (cells: readonly Cell[]): number => Math.max(...cells.map(({ height }) => height))

/** A statement on A4 pages: heading, facts, tables. What it writes can be read from `stream` at once. */
class StatementPdf {
  readonly #doc: PDFKit.PDFDocument
  readonly #foot: string
  #page = 0
  #y = MARGIN

  constructor({ title, name, facts, foot, createdAt }: Heading) {
    const info = { Title: `${title}: ${name}`, CreationDate: createdAt, ModDate: createdAt }
    this.#doc = new Pdfkit({
      size: 'A4',
      margin: MARGIN,
      autoFirstPage: false,
      // Else it would read one of its own.
      font: '',
      lang: 'en-IN',
      info,
    })
    // Opened fonts are what it takes besides files of fonts; its types do not say so.
    for (const [name, font] of Object.entries(FONTS)) this.#doc.registerFont(name, font as unknown as Buffer)
    this.#foot = foot
    this.#newPage()
    this.#text(title, MARGIN, { font: BOLD, size: 18 })
    this.#y += 28
    this.#text(name, MARGIN, { font: BOLD, size: 11 })
    this.#y += 24
    this.#facts(facts)
  }

  get stream(): Readable {
    return this.#doc as unknown as Readable
  }

  end(): void {
    this.#doc.end()
  }

  /** Smaller text that may need several lines. */
  note(text: string): void {
    this.#doc.font(REGULAR).fontSize(SIZE).fillColor(GREY)
    const height = this.#doc.heightOfString(text, { width: WIDTH })
    if (this.#y + height > BOTTOM) this.#newPage()
    this.#doc.text(text, MARGIN, this.#y, { width: WIDTH })
    this.#y += height + ROW
  }

  /** Rows that are a sum are bold. */
  async table<Row>(
    title: string,
    columns: readonly PdfColumn<Row>[],
    rows: readonly Row[],
    isSum: (row: Row) => boolean = () => false,
  ): Promise<void> {
    if (this.#y + 4 * ROW > BOTTOM) this.#newPage()
    this.#text(title, MARGIN, { font: BOLD, size: 11 })
    this.#y += 20
    this.#head(columns)
    for (const [i, row] of rows.entries()) {
      const cells = this.#cells(columns, (column) => column.cell(row), isSum(row) ? BOLD : REGULAR)
      if (this.#y + heightOf(cells) > BOTTOM) {
        this.#newPage()
        this.#head(columns)
      }
      this.#row(cells)
      if (i % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await setImmediate()
    }
    this.#y += ROW
  }

  #newPage(): void {
    this.#page += 1
    this.#doc.addPage()
    this.#y = A4.height - MARGIN - 10
    this.#text(this.#foot, MARGIN, { color: GREY, size: 7.5 })
    this.#right(`Page ${this.#page}`, MARGIN + WIDTH, { color: GREY, size: 7.5 })
    this.#y = MARGIN
  }

  #facts(facts: Heading['facts']): void {
    for (const [label, value] of facts) {
      this.#text(label, MARGIN, { color: GREY })
      this.#text(value, MARGIN + 130, { width: WIDTH - 130 })
      this.#y += ROW
    }
    this.#y += ROW
  }

  #head<Row>(columns: readonly PdfColumn<Row>[]): void {
    this.#row(this.#cells(columns, ({ title }) => title, BOLD))
    this.#doc
      .moveTo(MARGIN, this.#y - 3)
      .lineTo(MARGIN + WIDTH, this.#y - 3)
      .lineWidth(0.5)
      .strokeColor(LINE)
      .stroke()
  }

  #cells<Row>(
    columns: readonly PdfColumn<Row>[],
    textOf: (column: PdfColumn<Row>) => string,
    font: string,
  ): Cell[] {
    let right = MARGIN
    return columns.map((column) => {
      const x = right
      right += column.share * WIDTH
      const text = textOf(column)
      if (column.align === 'right') return { text, font, right, size: SIZE, height: ROW }
      const width = right - x - 6
      this.#style({ font })
      const needed = this.#doc.widthOfString(text)
      if (needed <= width) return { text, font, x, size: SIZE, height: ROW }
      const size = Math.max(SIZE_MIN, (SIZE * width) / needed - 0.01)
      this.#style({ font, size })
      return { text, font, x, size, width, height: this.#doc.heightOfString(text, { width }) + ROW - SIZE }
    })
  }

  #row(cells: readonly Cell[]): void {
    for (const cell of cells)
      if ('right' in cell) this.#right(cell.text, cell.right, cell)
      else {
        this.#style(cell)
        this.#doc.text(cell.text, cell.x, this.#y, cell.width ? { width: cell.width } : { lineBreak: false })
      }
    this.#y += heightOf(cells)
  }

  #style({ font = REGULAR, size = SIZE, color = 'black' }): void {
    this.#doc.font(font).fontSize(size).fillColor(color)
  }

  #text(
    text: string,
    x: number,
    style: { font?: string; size?: number; color?: string; width?: number },
  ): void {
    this.#style(style)
    const { width = WIDTH } = style
    // One line: what is longer ends with an ellipsis.
    this.#doc.text(text, x, this.#y, { width, height: ROW, lineBreak: true, ellipsis: true })
  }

  #right(text: string, x: number, style: { font?: string; size?: number; color?: string }): void {
    this.#style(style)
    this.#doc.text(text, x - this.#doc.widthOfString(text), this.#y, { lineBreak: false })
  }
}

/** A statement that `write` fills; it can be read meanwhile. */
export function statementPdf(heading: Heading, write: (pdf: StatementPdf) => Promise<void>): Readable {
  const pdf = new StatementPdf(heading)
  const all = async () => {
    await write(pdf)
    pdf.end()
  }
  all().catch((error: unknown) => pdf.stream.destroy(error as Error))
  return pdf.stream
}
