"""The language of a page."""

from __future__ import annotations

import pytest
from turbohtml import parse

from archivebot.text.language import guess, language

# The first article of the Universal Declaration of Human Rights, United Nations, or its beginning.
ARTICLE_1 = {
    "ar": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميرًا وعليهم أن يعامل "
    "بعضهم بعضًا بروح الإخاء.",
    "bg": "Всички хора се раждат свободни и равни по достойнство и права. Те са надарени с разум и "
    "съвест и следва да се отнасят помежду си в дух на братство.",
    "bn": "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে। তাঁদের বিবেক এবং বুদ্ধি"
    " আছে; সুতরাং সকলেরই একে অপরের প্রতি ভ্রাতৃত্বসুলভ মনোভাব নিয়ে আচরণ করা উচিত।",
    "ca": "Tots els éssers humans neixen lliures i iguals en dignitat i en drets. Són dotats de raó i "
    "de consciència, i han de comportar-se fraternalment els uns amb els altres.",
    "cs": "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a "
    "svědomím a mají spolu jednat v duchu bratrství.",
    "da": "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft "
    "og samvittighed, og de bør handle mod hverandre i en broderskabets ånd.",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und "
    "Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι "
    "προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ",
    "en": "All human beings are born free and equal in dignity and rights. They are endowed with reason"
    " and conscience and should act towards one another in a spirit of brotherhood.",
    "es": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están "
    "de razón y conciencia, deben comportarse fraternalmente los unos con los",
    "et": "Kõik inimesed sünnivad vabadena ja võrdsetena oma väärikuselt ja õigustelt. Neile on antud "
    "mõistus ja südametunnistus ja nende suhtumist üksteisesse peab kandma vendluse",
    "fi": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on "
    "annettu järki ja omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden",
    "fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de "
    "raison et de conscience et doivent agir les uns envers les autres dans un",
    "he": "כל בני אדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה "
    "עליהם לנהוג איש ברעהו ברוח של אחוה.",
    "hi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है । "
    "उन्हें बुद्धि और अन्तरात्मा की देन प्राप्त है और परस्पर उन्हें भाईचारे के भाव से",
    "hr": "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima. Ona su obdarena "
    "razumom i sviješću i treba da jedno prema drugome postupaju u duhu bratstva.",
    "hu": "Minden. emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel "
    "és lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy",
    "id": "Semua orang dilahirkan merdeka dan mempunyai martabat dan hak-hak yang sama. Mereka "
    "dikaruniai akal dan hati nurani dan hendaknya bergaul satu sama lain dalam semangat",
    "is": "Hver maður er borinn frjáls og jafn öðrum að virðingu og réttindum. Menn eru gæddir "
    "vitsmunum og samvizku, og ber þeim að breyta bróðurlega hverjum við annan.",
    "it": "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati di "
    "ragione e di coscienza e devono agire gli uni verso gli altri in spirito di",
    "ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"
    "人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. "
    "인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.",
    "lt": "Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis. Jiems suteiktas protas ir sąžinė "
    "ir jie turi elgtis vienas kito atžvilgiu kaip broliai.",
    "lv": "Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās. Viņi ir apveltīti ar "
    "saprātu un sirdsapziņu, un viņiem jāizturas citam pret citu brālības garā.",
    "nl": "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn begiftigd met "
    "verstand en geweten, en behoren zich jegens elkander in een geest van",
    "no": "Alle mennesker er født frie og med samme menneskeverd og menneskerettigheter. De er utstyrt "
    "med fornuft og samvittighet og bør handle mot hverandre i brorskapets ånd.",
    "pl": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni "
    "obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.",
    "pt": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e"
    " de consciência, devem agir uns para com os outros em espírito de",
    "ro": "Toate ființele umane se nasc libere și egale în demnitate și în drepturi. Ele sunt "
    "înzestrate cu rațiune și conștiință și trebuie să se comporte unele față de altele în",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и"
    " совестью и должны поступать в отношении друг друга в духе братства.",
    "sk": "Všetci ľudia sa rodia slobodní a sebe rovní , čo sa týka ich dostojnosti a práv. Sú obdarení"
    " rozumom a majú navzájom jednať v bratskom duchu.",
    "sl": "Vsi ljudje se rodijo svobodni in imajo enako dostojanstvo in enake pravice. Obdarjeni so z "
    "razumom in vestjo in bi morali ravnati drug z drugim kakor bratje.",
    "sv": "Alla människor äro födda fria och lika i värde och rättigheter. De äro utrustade med förnuft"
    " och samvete och böra handla gentemot varandra i en anda av broderskap.",
    "sw": "Watu wote wamezaliwa huru, hadhi na haki zao ni sawa. Wote wamejaliwa akili na dhamiri, "
    "hivyo yapasa watendeane kindugu.",
    "ta": "மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; அவர்கள் மதிப்பிலும், உரிமைகளிலும் "
    "சமமானவர்கள், அவர்கள் நியாயத்தையும் மனச்சாட்சியையும் இயற்பண்பாகப் பெற்றவர்கள்.",
    "th": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักด[เกียรติศักดิ์]และสิทธิ "
    "ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
    "tr": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler"
    " ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler.",
    "uk": "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і"
    " совістю і повинні діяти у відношенні один до одного в дусі братерства.",
    "vi": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền. "
    "Mọi con người đều được tạo hoá ban cho lý trí và lương tâm và cần",
    "zh": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
}


@pytest.mark.parametrize("code", ARTICLE_1)
def test_a_sentence_names_its_language(code: str) -> None:
    assert guess(ARTICLE_1[code]) == code


def test_the_declaration_comes_before_the_text() -> None:
    assert language(parse("<html lang=DE-at>"), ARTICLE_1["en"]) == "de"
    assert language(parse("<meta property=og:locale content=fr_FR>"), ARTICLE_1["en"]) == "fr"


@pytest.mark.parametrize("declared", ["", "<html lang=''>", "<html lang='{{ lang }}'>"])
def test_without_a_declaration_that_can_be_read_the_text_decides(declared: str) -> None:
    assert language(parse(declared), ARTICLE_1["de"]) == "de"


def test_a_list_of_names_has_no_language() -> None:
    assert guess("Canon EOS R5, Nikon Z8, Sony A7 IV, Fujifilm X-T5, Leica Q3") == ""
